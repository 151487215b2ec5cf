//! The interface between the parts of a report and the formats with markup that it is written in.

use super::fix::Fix;
use crate::diagnosis::{CodeTree, FindingId, Severity};

/// A format with markup. Texts come as they were recorded: escaping them is the sink's business alone.
pub(in crate::report) trait Sink {
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
pub(in crate::report) struct Head<'a> {
    pub(in crate::report) severity: Severity,
    pub(in crate::report) id: FindingId,
    /// The line that the verdict comes down to.
    pub(super) culprit: Option<&'a str>,
    /// What to change.
    pub(super) fix: Option<&'a Fix>,
    pub(in crate::report) title: &'a str,
    /// The recording's name.
    pub(in crate::report) name: &'a str,
    pub(in crate::report) device: &'a str,
    pub(in crate::report) moment: &'a str,
}

/// A piece of a paragraph.
pub(in crate::report) enum Span<'a> {
    Plain(&'a str),
    Strong(&'a str),
}

/// A cell of a table.
#[derive(Clone)]
pub(in crate::report) enum Cell {
    Plain(String),
    Number(String),
    Code(String),
    /// Pieces of code that belong together.
    Codes(Vec<String>),
}

/// A column of a table.
#[derive(Clone, Copy)]
pub(in crate::report) struct Column {
    /// Empty where the column speaks for itself.
    pub(in crate::report) title: &'static str,
    pub(in crate::report) is_number: bool,
}

/// A table: every row has a cell for each column.
pub(in crate::report) struct Table {
    /// The name of its style, if it has one.
    pub(in crate::report) style: Option<&'static str>,
    pub(in crate::report) columns: Vec<Column>,
    pub(in crate::report) rows: Vec<Vec<Cell>>,
}

/// An entry of a list: a sentence, and lines of code below it.
pub(in crate::report) struct Item<'a> {
    pub(in crate::report) text: &'a str,
    pub(in crate::report) code: Option<&'a str>,
}
