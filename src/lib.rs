//! oomscope: a viewer for PyTorch CUDA memory snapshots.
//!
//! This package is the program: the command line, and the window where it is built. What it shows is worked out in the packages
//! below `crates/`, each of which knows only those before it. ARCHITECTURE.md has the map.

pub mod cli;
#[cfg(test)]
mod fuzzing_tests;
