//! oomscope: a viewer for PyTorch CUDA memory snapshots.
//!
//! Data flows one way, and each layer knows only those before it:
//!
//! [`pickle`] (bytes to values) → [`snapshot`] (torch's keys to rows) → [`model`] (columns and lifetimes)
//! → [`analysis`] (figures and findings about the model) and [`simulator`] (the recording under other
//! allocator settings) → [`program`] (what the recorded program is and does) → [`projection`] (the rest of the step that failed) → [`diagnosis`] (causes and advice), [`ranks`] (several recordings of a job) → [`remedies`] (what would have helped) → [`report`]
//! (text) → [`cli`]. [`load`]
//! connects the first three to files and threads. [`draw`] turns the model into pixels, [`export`]
//! combines pixels and words into whole pictures, [`interchange`] writes what other programs read, and `app` is the window around them, which a build may
//! leave out. [`notes`] reads and writes places in a recording and notes about them. [`save`] writes files whole or not at all.
//!
//! ARCHITECTURE.md lists what each layer must not know; `tests/it/layering.rs` checks it.
#![forbid(unsafe_code)]

// Fuzz targets name the library as every other program does.
#[cfg(test)]
extern crate self as oomscope;

pub mod analysis;
#[cfg(feature = "window")]
pub mod app;
pub mod cli;
pub mod cut;
pub mod diagnosis;
pub mod draw;
pub mod export;
#[cfg(test)]
mod fuzzing_tests;
pub mod interchange;
pub mod json;
pub mod load;
pub mod model;
pub mod notes;
pub mod pickle;
pub mod program;
pub mod projection;
pub mod ranks;
pub mod remedies;
pub mod report;
pub mod save;
pub mod simulator;
pub mod snapshot;
pub mod units;
