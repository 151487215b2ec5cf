//! A table of a database.

use crate::interchange::cell::Cell;
use crate::interchange::column::{ColumnInfo, Kind};
use crate::interchange::progress::Progress;
use crate::interchange::selection::Selection;
use crate::interchange::tables::Table;
use crate::interchange::writers::TableWriter;
use rusqlite::types::Value;
use rusqlite::{Connection, Statement, params_from_iter};
use std::io;

/// Inserts the rows of one table.
struct Inserts<'c> {
    statement: Statement<'c>,
    row: Vec<Value>,
}

impl TableWriter for Inserts<'_> {
    fn cell(&mut self, cell: Cell<'_>) -> io::Result<()> {
        self.row.push(match cell {
            Cell::Null => Value::Null,
            Cell::Int(number) => Value::Integer(number),
            // Numbers of a database are signed; addresses of devices are far below the half.
            Cell::Address(number) => Value::Integer(number.cast_signed()),
            Cell::Bool(value) => Value::Integer(value.into()),
            Cell::Text(text) => Value::Text(text.into_owned()),
            Cell::Pool(pool) => Value::Text(format!("({}, {})", pool.0, pool.1)),
        });
        Ok(())
    }

    fn end_row(&mut self) -> io::Result<()> {
        self.statement.execute(params_from_iter(&self.row)).map_err(io::Error::other)?;
        self.row.clear();
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Make a table with all of its rows.
pub(super) fn write_table(
    connection: &Connection,
    table: &Table,
    selection: &Selection<'_>,
    progress: &mut Progress<'_>,
) -> io::Result<()> {
    let columns = table.columns();
    let declared: Vec<String> = columns.iter().map(declaration).collect();
    let create = format!("CREATE TABLE \"{}\" ({})", table.name, declared.join(", "));
    connection.execute_batch(&create).map_err(io::Error::other)?;
    let places = vec!["?"; columns.len()].join(", ");
    let insert = format!("INSERT INTO \"{}\" VALUES ({places})", table.name);
    let statement = connection.prepare(&insert).map_err(io::Error::other)?;
    table.write(selection, &mut Inserts { statement, row: Vec::with_capacity(columns.len()) }, progress)
}

fn declaration(column: &ColumnInfo) -> String {
    let kind = match column.kind {
        Kind::Int | Kind::Address | Kind::Bool => "INTEGER",
        Kind::Text => "TEXT",
    };
    format!("\"{}\" {kind}", column.name)
}
