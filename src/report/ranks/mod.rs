//! `ranks`: the recordings of a job side by side.

mod json;
mod text;
mod words;

pub use json::ranks_json;
pub use text::ranks_text;
