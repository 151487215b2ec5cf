//! The register of formats.

use super::column::ColumnInfo;
use super::perfetto::perfetto;
use super::progress::Progress;
use super::selection::Selection;
#[cfg(feature = "sql")]
use super::sqlite::sqlite;
use super::stacks::{folded, pprof};
#[cfg(feature = "parquet")]
use super::writers::parquet_writer;
use super::writers::{TableWriter, csv_writer, jsonl_writer};
use std::io::{self, Write};

/// Begins a table in a format.
pub type OpenTable = for<'a> fn(&'a mut (dyn Write + Send), &[ColumnInfo]) -> Box<dyn TableWriter + 'a>;

/// Writes everything.
pub type WriteWhole = fn(&Selection<'_>, &mut (dyn Write + Send), &mut Progress<'_>) -> io::Result<()>;

/// The content of files of a format.
#[derive(Debug, Clone, Copy)]
pub enum Content {
    /// One table in each file.
    Table(OpenTable),
    /// All tables in one file.
    Database(WriteWhole),
    /// Stacks with their bytes: of what is live at a moment, or was allocated in a range.
    Stacks(WriteWhole),
    /// What happened over time.
    Trace(WriteWhole),
}

/// A format that other programs read.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Its name on the command line, and the extension of its files.
    pub name: &'static str,
    /// Its meaning, as a phrase.
    pub about: &'static str,
    /// The content of its files.
    pub content: Content,
}

/// All formats of this build.
pub const FORMATS: &[Format] = &[
    Format { name: "csv", about: "Tables as CSV", content: Content::Table(csv_writer) },
    Format {
        name: "jsonl",
        about: "Tables as JSON lines: an object per row",
        content: Content::Table(jsonl_writer),
    },
    #[cfg(feature = "parquet")]
    Format { name: "parquet", about: "Tables as Parquet", content: Content::Table(parquet_writer) },
    #[cfg(feature = "sql")]
    Format { name: "sqlite", about: "All tables as one SQLite database", content: Content::Database(sqlite) },
    Format {
        name: "folded",
        about: "Stacks with their bytes, for flamegraph.pl, inferno and speedscope",
        content: Content::Stacks(folded),
    },
    Format {
        name: "pprof",
        about: "Stacks with their bytes by category, for go tool pprof and Pyroscope",
        content: Content::Stacks(pprof),
    },
    Format {
        name: "perfetto",
        about: "A trace for ui.perfetto.dev: counters, allocations, iterations, phases and ranges",
        content: Content::Trace(perfetto),
    },
];
