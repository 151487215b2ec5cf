//! What was in memory at instants of a recording, as plain values: what the timeline of a page can be asked.

use oomscope_analysis::{Category, CategoryBytes};
use oomscope_model::{Bytes, Moment};

/// The reason why a moment has a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkKind {
    /// The most bytes are active.
    Peak,
    /// A request failed.
    OutOfMemory,
    /// The report is about it.
    Report,
}

/// Memory over time by category, in columns of equally many moments.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryFigure {
    /// Number of moments from left to right.
    pub moments: usize,
    /// The columns, from the left.
    pub columns: Vec<FigureColumn>,
    /// The peak, the latest requests that failed, and the moment of the report, ascending.
    pub marks: Vec<FigureMark>,
    /// Whether iterations have their numbers; else their places in the recording.
    pub is_numbered: bool,
    /// The index of the moment of the report among `marks`.
    pub at: usize,
}

/// A part of the recording, read at the instant at which most was active.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureColumn {
    /// The first instant with the highest total of active bytes.
    pub instant: FigureInstant,
    /// The most bytes that were reserved within the column.
    pub most_reserved: Bytes,
}

/// A moment that one can go to, with what was in memory then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureMark {
    /// The reason.
    pub kind: MarkKind,
    /// Its column.
    pub column: usize,
    /// The state after it.
    pub instant: FigureInstant,
}

/// The state at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureInstant {
    /// The moment.
    pub moment: Moment,
    /// Microseconds since the first recorded time; `None` without times.
    pub time_us: Option<i64>,
    /// Bytes in use.
    pub allocated: Bytes,
    /// Bytes in use or waiting for a stream.
    pub active: Bytes,
    /// Bytes taken from the driver.
    pub reserved: Bytes,
    /// The iteration: its number, or its place in the recording.
    pub iteration: Option<u32>,
    /// The key of the phase.
    pub phase: Option<&'static str>,
    /// Active bytes by category.
    pub categories: Vec<CategoryBytes>,
}

impl FigureInstant {
    /// The bytes of a category, and those of them whose category is only inferred.
    pub(super) fn bytes_of(&self, category: Category) -> [Bytes; 2] {
        let found = self.categories.iter().find(|of| of.category == category);
        found.map_or([Bytes::ZERO; 2], |of| [of.bytes, of.inferred_bytes])
    }
}

impl MemoryFigure {
    /// All instants: those of the columns, then those of the marks.
    pub(super) fn instants(&self) -> impl Iterator<Item = &FigureInstant> {
        let columns = self.columns.iter().map(|column| &column.instant);
        columns.chain(self.marks.iter().map(|mark| &mark.instant))
    }

    /// The categories that have bytes anywhere, in the order in which they are stacked.
    pub(super) fn categories(&self) -> Vec<Category> {
        let is_shown =
            |&category: &Category| self.instants().any(|instant| instant.bytes_of(category) != [0; 2]);
        Category::ALL.into_iter().filter(is_shown).collect()
    }
}
