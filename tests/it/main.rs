//! Tests of the whole: the program as it is run, and the library from bytes to model.
//!
//! One binary with a module per subject, so that linking happens once.
#![forbid(unsafe_code)]

mod absurd;
mod accelerators;
mod agents;
mod answers;
mod attribution;
mod automation;
mod bombs;
mod bounded_work;
mod changes;
mod check;
mod cli;
mod compiled;
mod corpus;
mod cuts;
mod damage;
mod damage_said;
mod declared;
mod diff;
mod estimates;
mod expandable;
mod explain;
mod export;
mod faults;
mod findings;
mod fits;
mod formats;
mod free_memory;
mod gate;
mod help;
mod host_memory;
mod injection;
mod json_snapshots;
mod lay_out;
mod layering;
mod loading;
mod marks;
mod memory;
mod memory_summary;
mod named;
mod names;
mod notes;
mod operators;
mod outputs;
mod pages;
mod pickles;
mod plans;
mod projection;
mod properties;
mod public;
mod ranks;
mod recorder;
mod redaction;
mod remedies;
mod render;
mod reports;
#[cfg(unix)]
mod running;
mod schemas;
mod segment_maps;
mod shared_parts;
mod simulate;
mod simulator;
mod source_tree;
mod sql;
mod stats_golden;
mod stats_shared;
mod structure;
mod support;
mod trust;
mod trust_said;
mod verdicts;
#[cfg(feature = "window")]
mod window;
