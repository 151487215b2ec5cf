//! Two moments side by side, as text, Markdown, HTML and JSON.

mod amounts;
mod curves;
mod flame;
mod json;
mod markup;
mod named;
mod operators;
mod promises;
mod rows;
mod sentence;
mod tables;
mod text;
mod titled;

pub use flame::comparison_svg;
pub use json::comparison_json;
pub use markup::{comparison_html, comparison_markdown};
pub use named::{CompareBy, NamedRow};
pub use operators::operators_remark;
pub use sentence::comparison_sentence;
pub use tables::side_text;
pub use text::comparison_text;

use crate::Promise;
use oomscope_analysis::comparison::{Comparison, Side};

/// A comparison, and the names of what is compared.
#[derive(Clone, Copy)]
pub struct ComparisonReport<'a> {
    /// The files' names.
    pub files: [&'a str; 2],
    /// The sides.
    pub sides: [&'a Side<'a>; 2],
    /// The comparison of the sides.
    pub comparison: &'a Comparison,
    /// What fixes of A promised.
    pub promises: &'a Promises,
    /// How many lines of code, operators and modules are listed.
    pub top: usize,
}

/// What was promised of A.
#[derive(Debug, Default)]
pub struct Promises {
    /// What was promised of each fix.
    pub fixes: Vec<Promise>,
    /// Whether they were named, as those that made B of A.
    pub are_named: bool,
    /// The file in which they were kept, and the version of the program that made them; `None` where they were made now.
    pub kept: Option<(String, String)>,
}
