//! `oomscope sql`: questions in SQL about the tables of a recording.

use super::export::everything;
use super::failure::Failure;
use super::output;
use super::progress_bar::with_bar;
use super::select::Source;
use super::stderr;
use clap::Args;
use oomscope_export::interchange::{SqlAnswer, SqlError, SqlValue, ask, rows_for};
use oomscope_report::{CsvRows, columns_text, write_json_text};
use oomscope_units as units;
use std::io::{self, Write};

/// The most rows that are laid out as columns, which needs all of them at once.
const MAX_TEXT_ROWS: usize = 10_000;

/// Arguments of `sql`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oomscope sql run.pickle 'select count(*) from allocations'
  # The lines of code that allocated most:
  oomscope sql run.pickle 'select site, sum(size_bytes) from allocations
    group by site order by 2 desc limit 5'
  # The columns of all tables:
  oomscope sql run.pickle 'select sql from sqlite_schema'

The tables are those of 'oomscope export', with the columns that docs/export.md lists. Only tables that the \
query names are made. SQLite answers; nothing can be changed.")]
pub(super) struct SqlArgs {
    #[command(flatten)]
    source: Source,
    /// Query to answer
    #[arg(value_name = "QUERY")]
    query: String,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How the answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Aligned columns
    Text,
    /// Comma-separated values with a header
    Csv,
    /// A JSON object for each row
    Jsonl,
}

pub(super) fn run(args: &SqlArgs) -> Result<(), Failure> {
    let recording = args.source.open()?;
    let selection = everything(&recording);
    let mut out = output::stdout();
    let mut rows: Box<dyn RowWriter + '_> = match args.format {
        Format::Text => Box::new(Columns { out: &mut out, rows: Vec::new(), left_out: 0 }),
        Format::Csv => Box::new(CsvRows::new(&mut out)),
        Format::Jsonl => Box::new(JsonLines { out: &mut out, names: Vec::new() }),
    };
    let asked = with_bar(rows_for(&args.query, &selection), "rows", |progress| {
        ask(&selection, &args.query, progress, &mut Answer(&mut *rows))
    });
    asked.map_err(|error| match error {
        SqlError::Query(why) => Failure::new(
            format_args!("the query is not answered: {why}"),
            "docs/export.md has the tables and their columns; 'select sql from sqlite_schema' prints them",
        ),
        SqlError::Io(error) => error.into(),
    })?;
    rows.finish()?;
    drop(rows);
    Ok(out.flush()?)
}

/// Writes rows in a format.
trait RowWriter {
    fn columns(&mut self, names: &[String]) -> io::Result<()>;
    fn row(&mut self, values: Vec<SqlValue>) -> io::Result<()>;
    fn finish(&mut self) -> io::Result<()>;
}

struct Answer<'r>(&'r mut dyn RowWriter);

impl SqlAnswer for Answer<'_> {
    fn columns(&mut self, names: &[String]) -> io::Result<()> {
        self.0.columns(names)
    }

    fn row(&mut self, values: Vec<SqlValue>) -> io::Result<()> {
        self.0.row(values)
    }
}

struct Columns<'o> {
    out: &'o mut dyn Write,
    rows: Vec<Vec<String>>,
    left_out: u64,
}

impl RowWriter for Columns<'_> {
    fn columns(&mut self, names: &[String]) -> io::Result<()> {
        self.rows.push(names.iter().map(|name| units::printable(name)).collect());
        Ok(())
    }

    fn row(&mut self, values: Vec<SqlValue>) -> io::Result<()> {
        if self.rows.len() <= MAX_TEXT_ROWS {
            self.rows.push(values.iter().map(|value| units::printable(&text(value))).collect());
        } else {
            self.left_out += 1;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        columns_text(self.out, &self.rows)?;
        if 0 < self.left_out {
            let count = units::count(self.left_out);
            stderr::notice(&format!("{count} more rows are not shown; --format csv writes all of them"));
        }
        Ok(())
    }
}

impl RowWriter for CsvRows<'_> {
    fn columns(&mut self, names: &[String]) -> io::Result<()> {
        CsvRows::row(self, names.iter().cloned())
    }

    fn row(&mut self, values: Vec<SqlValue>) -> io::Result<()> {
        CsvRows::row(self, values.iter().map(text))
    }

    fn finish(&mut self) -> io::Result<()> {
        CsvRows::finish(self)
    }
}

struct JsonLines<'o> {
    out: &'o mut dyn Write,
    names: Vec<String>,
}

impl RowWriter for JsonLines<'_> {
    fn columns(&mut self, names: &[String]) -> io::Result<()> {
        self.names = names.to_vec();
        Ok(())
    }

    fn row(&mut self, values: Vec<SqlValue>) -> io::Result<()> {
        for (at, (name, value)) in self.names.iter().zip(values).enumerate() {
            write!(self.out, "{}", if at == 0 { '{' } else { ',' })?;
            write_json_text(self.out, name)?;
            write!(self.out, ":")?;
            match value {
                SqlValue::Integer(number) => write!(self.out, "{number}")?,
                SqlValue::Real(number) if number.is_finite() => write!(self.out, "{number}")?,
                SqlValue::Null | SqlValue::Real(_) => write!(self.out, "null")?,
                SqlValue::Text(text) => write_json_text(self.out, &text)?,
            }
        }
        writeln!(self.out, "}}")
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn text(value: &SqlValue) -> String {
    match value {
        SqlValue::Null => String::new(),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => number.to_string(),
        SqlValue::Text(text) => text.clone(),
    }
}
