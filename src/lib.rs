//! oomscope
#![forbid(unsafe_code)]
pub mod model;
pub mod pickle;
pub mod snapshot;
pub mod load;
