//! `ranks`: the recordings of a job side by side.

mod json;
mod markup;
mod text;
mod words;

pub use json::ranks_json;
pub use markup::{ranks_html, ranks_markdown};
pub use text::ranks_text;
pub use words::{
    LISTED_LINES, LISTED_RANKS, among, axis_text, failure_text, free_note, headline, outcome, outlier_text,
    standings,
};
