//! The rows of a comparison with their names, for those who draw tables of their own.

use super::ComparisonReport;
use super::amounts::{change_word, portion_text};
use super::operators::operator_text;
use super::rows::{line_text, module_text, pool_text};
use oomscope_analysis::Category;
use oomscope_analysis::comparison::{BothSides, Change};

/// The property by which memory is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CompareBy {
    /// What memory is for.
    #[default]
    Category,
    /// The line of code.
    Line,
    /// The operator.
    Operator,
    /// The module, without those below it.
    Module,
    /// The pool and stream.
    Pool,
}

/// A row of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRow {
    /// The name of what it is about.
    pub name: String,
    /// Bytes of both sides, as text; marked where their category is inferred.
    pub sides: [String; 2],
    /// The change with its sign.
    pub change: String,
    /// Bytes of the change.
    pub change_bytes: i128,
    /// How it changed, in a word.
    pub word: &'static str,
    /// True if neither side has more.
    pub is_same: bool,
    /// The filter that finds the memory of the second side, where there is one.
    pub query: Option<String>,
}

impl CompareBy {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Category, Self::Line, Self::Operator, Self::Module, Self::Pool];

    /// The rows of a comparison, the largest change first.
    pub fn rows(self, report: &ComparisonReport<'_>) -> Vec<NamedRow> {
        let found = report.comparison;
        match self {
            Self::Category => {
                let query = |category: Category| Some(format!("category:{}", category.key()));
                let row = |row: &BothSides<Category>| named(row, row.key.label(), query(row.key));
                found.by_category().iter().map(row).collect()
            }
            Self::Line => {
                let row = |row: &BothSides<u32>| {
                    let pair = found.lines.get(row.key as usize);
                    let label = pair.and_then(|pair| pair.labels[1].as_deref());
                    let query =
                        label.map(|label| format!("site:{}", oomscope_analysis::filter::quoted(label)));
                    named(row, &pair.map_or_else(String::new, line_text), query)
                };
                found.by_line().iter().map(row).collect()
            }
            Self::Operator => {
                let name = |key: u32| operator_text(found, key);
                found.by_operator().iter().map(|row| named(row, &name(row.key), None)).collect()
            }
            Self::Module => {
                found.by_module().iter().map(|row| named(row, &module_text(found, row.key), None)).collect()
            }
            Self::Pool => {
                let name = |key: u32| found.pools.get(key as usize).map_or_else(String::new, pool_text);
                found.by_pool().iter().map(|row| named(row, &name(row.key), None)).collect()
            }
        }
    }
}

fn named<K>(row: &BothSides<K>, name: &str, query: Option<String>) -> NamedRow {
    NamedRow {
        name: oomscope_units::printable(name),
        sides: [0, 1].map(|side| portion_text(&row.sides[side])),
        change: oomscope_units::bytes_change(row.change_bytes()),
        change_bytes: row.change_bytes(),
        word: change_word(row),
        is_same: row.change() == Change::Same,
        query,
    }
}
