//! A recording in formats that other programs read: tables, weighted stacks, traces.
//!
//! [`FORMATS`] is the register of formats, [`TABLES`] that of tables, and [`JOB_TABLES`] that of the tables of a job. Rows are made while they are written, so memory does not
//! grow with the output. This layer knows no files and no arguments.

mod cell;
mod column;
#[cfg(test)]
mod documentation;
mod format;
mod job_tables;
mod perfetto;
mod profile;
mod progress;
mod protobuf;
mod selection;
#[cfg(feature = "sql")]
mod sqlite;
mod stacks;
mod tables;
mod writers;

pub use cell::Cell;
pub use column::{ColumnInfo, Kind, Unit};
pub use format::{Content, FORMATS, Format, OpenTable, WriteWhole};
pub use job_tables::{JOB_TABLES, JobTable};
pub use profile::{Profile, ProfileError};
pub use progress::Progress;
pub use selection::{Portion, Selection};
#[cfg(feature = "sql")]
pub use sqlite::{SqlAnswer, SqlError, SqlValue, ask, rows_for};
pub use tables::{TABLES, Table};
pub use writers::TableWriter;
