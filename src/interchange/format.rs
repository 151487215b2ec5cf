//! The register of formats.

use super::column::ColumnInfo;
#[cfg(feature = "parquet")]
use super::writers::parquet_writer;
use super::writers::{TableWriter, csv_writer, jsonl_writer};
use std::io::Write;

/// Begins a table in a format.
pub type OpenTable = for<'a> fn(&'a mut (dyn Write + Send), &[ColumnInfo]) -> Box<dyn TableWriter + 'a>;

/// The content of files of a format.
#[derive(Debug, Clone, Copy)]
pub enum Content {
    /// One table in each file.
    Table(OpenTable),
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
];
