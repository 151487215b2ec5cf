//! A question in SQL, and its rows.

use super::fill;
use crate::interchange::progress::Progress;
use crate::interchange::selection::Selection;
use crate::interchange::tables::{TABLES, Table};
use oomscope_model::SaturatingSum as _;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use std::fmt::Write as _;
use std::io;
use thiserror::Error;

/// A value of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum SqlValue {
    /// Nothing.
    Null,
    /// A whole number.
    Integer(i64),
    /// Another number.
    Real(f64),
    /// A text, or the hexadecimal digits of bytes.
    Text(String),
}

/// The answer to a question, row by row.
pub trait SqlAnswer {
    /// The names of the columns come first.
    ///
    /// # Errors
    /// When writing fails.
    fn columns(&mut self, names: &[String]) -> io::Result<()>;

    /// A row, with a value for each column.
    ///
    /// # Errors
    /// When writing fails.
    fn row(&mut self, values: Vec<SqlValue>) -> io::Result<()>;
}

/// Why a question has no answer.
#[derive(Debug, Error)]
pub enum SqlError {
    /// `SQLite` does not take it.
    #[error("{0}")]
    Query(String),
    /// The tables cannot be made, or the answer cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<rusqlite::Error> for SqlError {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqlInputError { msg, offset, sql, .. } => {
                let near: String =
                    sql.get(usize::try_from(offset).unwrap_or(0)..).unwrap_or("").chars().take(30).collect();
                Self::Query(if near.is_empty() { msg } else { format!("{msg}, at '{near}'") })
            }
            rusqlite::Error::SqliteFailure(_, Some(message)) => Self::Query(message),
            other => Self::Query(other.to_string()),
        }
    }
}

/// Ask a question about the tables of a selection. Only tables that it names are made.
///
/// # Errors
/// When the question is no SQL about these tables, or wants to change something.
pub fn ask(
    selection: &Selection<'_>,
    question: &str,
    progress: &mut Progress<'_>,
    answer: &mut dyn SqlAnswer,
) -> Result<(), SqlError> {
    // Large tables go to a file that has no name.
    let connection = Connection::open("")?;
    fill(&connection, selection, &named_in(question), progress)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.execute_batch("PRAGMA query_only = ON")?;
    let mut statement = connection.prepare(question)?;
    if !statement.readonly() {
        return Err(SqlError::Query("a question must not change anything".to_owned()));
    }
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    answer.columns(&names)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        answer.row(values(row, names.len())?)?;
    }
    Ok(())
}

/// The most rows that the tables of a question have, for progress.
pub fn rows_for(question: &str, selection: &Selection<'_>) -> u64 {
    named_in(question).iter().map(|table| table.count(selection)).saturating_sum()
}

/// The tables whose names stand in a question.
pub(super) fn named_in(question: &str) -> Vec<&'static Table> {
    let lower = question.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    // What lists the tables needs all of them.
    let needs_all = words.iter().any(|word| word.starts_with("sqlite_"));
    TABLES.into_iter().filter(|table| needs_all || words.contains(&table.name)).collect()
}

fn values(row: &Row<'_>, count: usize) -> Result<Vec<SqlValue>, SqlError> {
    let value = |at| -> Result<SqlValue, SqlError> {
        Ok(match row.get_ref(at)? {
            ValueRef::Null => SqlValue::Null,
            ValueRef::Integer(number) => SqlValue::Integer(number),
            ValueRef::Real(number) => SqlValue::Real(number),
            ValueRef::Text(text) => SqlValue::Text(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Blob(bytes) => SqlValue::Text(hexadecimal(bytes)),
        })
    };
    (0..count).map(value).collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, byte| {
        _ = write!(out, "{byte:02x}");
        out
    })
}
