//! Tables as a database, and questions about them.

use super::answers::named_in;
use super::{SqlAnswer, SqlError, SqlValue, ask, sqlite};
use crate::interchange::{Cell, Portion, Progress, Selection, TABLES, TableWriter};
use oomscope_analysis::Attribution;
use oomscope_fixtures::stacks::allocated_with;
use oomscope_model::{Recording, Snapshot};
use std::io;
use std::sync::Arc;

#[derive(Default)]
struct Rows {
    names: Vec<String>,
    rows: Vec<Vec<SqlValue>>,
}

impl SqlAnswer for Rows {
    fn columns(&mut self, names: &[String]) -> io::Result<()> {
        self.names = names.to_vec();
        Ok(())
    }

    fn row(&mut self, values: Vec<SqlValue>) -> io::Result<()> {
        self.rows.push(values);
        Ok(())
    }
}

/// Counts rows.
#[derive(Default)]
struct Counted(u64);

impl TableWriter for Counted {
    fn cell(&mut self, _: Cell<'_>) -> io::Result<()> {
        Ok(())
    }

    fn end_row(&mut self) -> io::Result<()> {
        self.0 += 1;
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn everything(snapshot: &Arc<Snapshot>) -> Selection<'_> {
    let whole = |recording| Portion::whole(recording, Arc::new(Attribution::default()));
    Selection::new(snapshot, Recording::all(snapshot).map(whole).collect())
}

fn asked(question: &str) -> Result<Rows, SqlError> {
    let snapshot =
        Arc::new(allocated_with(&[&["train.py:3 step", "train.py:9 main"], &["model.py:5 forward"]]));
    let mut rows = Rows::default();
    ask(&everything(&snapshot), question, &mut Progress::new(&mut |_| ()), &mut rows)?;
    Ok(rows)
}

#[test]
fn a_question_has_rows_with_names_and_types() {
    let found = asked("SELECT count(*) AS n, sum(size_bytes) > 0, 1.5, null, 'a' FROM Allocations")
        .expect("an answer");
    assert_eq!(found.names[0], "n");
    let [row] = found.rows.as_slice() else { panic!("one row: {:?}", found.rows) };
    assert!(matches!(row[0], SqlValue::Integer(n) if 0 < n), "{row:?}");
    assert_eq!(
        row[1..],
        [SqlValue::Integer(1), SqlValue::Real(1.5), SqlValue::Null, SqlValue::Text("a".to_owned())]
    );
}

#[test]
fn nothing_can_be_changed_or_reached() {
    for question in [
        "delete from events",
        "attach '/tmp/other.db' as other",
        "pragma journal_mode = WAL",
        "create table a (b)",
        "select load_extension('x')",
        "select * from nothing",
        "no sql",
        "",
    ] {
        assert!(matches!(asked(question), Err(SqlError::Query(_))), "{question}");
    }
}

#[test]
fn only_tables_that_are_named_are_made() {
    let names = |question| named_in(question).iter().map(|table| table.name).collect::<Vec<_>>();
    assert_eq!(names("select * from events e join \"stacks\" on 1"), ["events", "stacks"]);
    assert_eq!(names("select 1 as eventsx"), [""; 0]);
    assert_eq!(names("select sql from sqlite_schema").len(), TABLES.len());
    assert_eq!(asked("select name from sqlite_schema").expect("an answer").rows.len(), TABLES.len());
}

#[test]
fn a_database_has_the_rows_of_every_table() {
    let snapshot =
        Arc::new(allocated_with(&[&["train.py:3 step", "train.py:9 main"], &["model.py:5 forward"]]));
    let selection = everything(&snapshot);
    let mut bytes = Vec::new();
    sqlite(&selection, &mut bytes, &mut Progress::new(&mut |_| ())).expect("it is written");
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    io::Write::write_all(&mut file, &bytes).expect("it is written");
    let connection = rusqlite::Connection::open(file.path()).expect("a database");
    for table in TABLES {
        let count = format!("select count(*) from \"{}\"", table.name);
        let rows: i64 = connection.query_row(&count, [], |row| row.get(0)).expect("a table");
        let rows = u64::try_from(rows).expect("a number of rows");
        let mut counted = Counted::default();
        table.write(&selection, &mut counted, &mut Progress::new(&mut |_| ())).expect("nothing is written");
        assert_eq!(rows, counted.0, "{}", table.name);
        assert!(
            rows != 0 || !["events", "allocations", "stacks", "frames"].contains(&table.name),
            "{}",
            table.name
        );
    }
}
