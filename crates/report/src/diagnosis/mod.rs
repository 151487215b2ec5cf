//! A diagnosis as a report: text for a terminal, Markdown for a ticket, HTML for a browser, JSON for
//! programs.

mod amounts;
mod answer;
mod brief;
mod clean;
mod document;
mod facts;
mod fix;
mod json;
mod markdown;
mod markdown_sink;
mod page;
mod quoted;
mod simulated;
mod sink;
mod text;
mod tree;
mod walk;
mod words;

pub use answer::{Answer, answer};
pub use brief::verdict_json;
pub use document::{Document, ReportInput};
pub use fix::{Fix, fix, fix_of};
pub use json::report_json;
pub use markdown::{MAX_MARKDOWN_CHARS, report_markdown};
pub use page::{
    Drawing, FigureColumn, FigureInstant, FigureMark, MarkKind, MemoryFigure, PageParts, PageTimeline,
    Picture, Plot, Readings, Theme, report_html,
};
pub use quoted::{RemedyText, quoted, simulated_heading};
pub use simulated::simulated_text;
pub use text::{TextDetail, report_text};
pub use words::kind_text;

pub(super) use markdown_sink::Markdown;
pub(super) use page::{Html, policy};
pub(super) use sink::{Cell, Column, Item, Sink, Span, Table};
