//! The interface between the parts of a report and the formats with markup that it is written in.

use super::fix::Fix;
use oomscope_analysis::Category;
use oomscope_diagnosis::{CodeTree, FindingId, Severity};
use oomscope_model::Bytes;
use oomscope_units as units;

/// A format with markup. Texts come as they were recorded: escaping them is the sink's business alone.
pub(crate) trait Sink {
    /// Whether sizes come before the code they belong to.
    const SIZES_FIRST: bool;

    /// The title, and below it what was recorded.
    fn head(&mut self, head: &Head<'_>);

    /// Begin the verdict, whose title is that of the report.
    fn open_finding(&mut self, severity: Severity, id: FindingId);

    /// A heading within a finding.
    fn heading(&mut self, text: &'static str);

    /// Begin another section.
    fn open_section(&mut self, title: &'static str);

    /// End the finding or section.
    fn close_section(&mut self);

    /// A paragraph of prose.
    fn paragraph(&mut self, spans: &[Span<'_>]);

    /// A paragraph of less weight.
    fn remark(&mut self, text: &str);

    /// A table.
    fn table(&mut self, table: &Table);

    /// A list without order.
    fn list(&mut self, items: &[Item<'_>]);

    /// A block that shows its summary and unfolds on a click.
    fn fold(&mut self, summary: &str, body: impl FnOnce(&mut Self));

    /// Memory by lines of code.
    fn tree(&mut self, tree: &CodeTree);

    /// Lines of code.
    fn code_block(&mut self, text: &str);

    /// The last line: the program that wrote the report.
    fn foot(&mut self, tool: &'static str);
}

/// The texts at the top of a report.
pub(crate) struct Head<'a> {
    pub(crate) severity: Severity,
    pub(crate) id: FindingId,
    /// The line that the verdict comes down to.
    pub(super) culprit: Option<&'a str>,
    /// What to change.
    pub(super) fix: Option<&'a Fix>,
    pub(crate) title: &'a str,
    /// The recording's name.
    pub(crate) name: &'a str,
    pub(crate) device: &'a str,
    pub(crate) moment: &'a str,
    /// That no device recorded it.
    pub(crate) predicted: Option<&'a str>,
    /// What stood in for values that were not known.
    pub(crate) stand_ins: &'a [Item<'a>],
}

/// A piece of a paragraph.
pub(crate) enum Span<'a> {
    Plain(&'a str),
    Strong(&'a str),
}

/// A cell of a table.
#[derive(Clone)]
pub(crate) enum Cell {
    Plain(String),
    Number(String),
    Amount(Amount),
    Code(String),
    /// Pieces of code that belong together.
    Codes(Vec<String>),
}

impl Cell {
    /// The amount, if it is one.
    pub(crate) fn amount(&self) -> Option<&Amount> {
        if let Self::Amount(amount) = self { Some(amount) } else { None }
    }
}

/// Bytes, which a format may show as a bar, too.
#[derive(Clone)]
pub(crate) struct Amount {
    pub(crate) text: String,
    pub(crate) bytes: Bytes,
    /// What they are for, if they are for one thing.
    pub(crate) category: Option<Category>,
    /// Whether that is only inferred.
    pub(crate) is_inferred: bool,
}

impl Amount {
    /// Bytes that are for several things.
    pub(super) fn of(bytes: Bytes) -> Self {
        Self { text: units::bytes(bytes), bytes, category: None, is_inferred: false }
    }
}

/// A column of a table.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    /// Empty where the column speaks for itself.
    pub(crate) title: &'static str,
    pub(crate) is_number: bool,
}

/// A column without a title.
pub(crate) const UNTITLED: Column = Column { title: "", is_number: false };

/// A table: every row has a cell for each column.
pub(crate) struct Table {
    /// The name of its style, if it has one.
    pub(crate) style: Option<&'static str>,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// An entry of a list: a sentence, and lines of code below it.
pub(crate) struct Item<'a> {
    pub(crate) text: &'a str,
    pub(crate) code: Option<&'a str>,
}
