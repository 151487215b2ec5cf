//! Tables of small recordings, and their documentation.

use super::{TABLES, Table};
use crate::interchange::documentation::section;
use crate::interchange::{Cell, Content, FORMATS, Kind, Portion, Progress, Selection, TableWriter};
use oomscope_analysis::Attribution;
use oomscope_fixtures::first;
use oomscope_fixtures::stacks;
use oomscope_fixtures::tables::{any_events, snapshot};
use oomscope_model::{Moment, Recording, Snapshot};
use proptest::prelude::*;
use std::io;
use std::sync::Arc;

/// Everything in a file.
fn everything(snapshot: &Arc<Snapshot>) -> Selection<'_> {
    let whole = |recording| Portion::whole(recording, Arc::new(Attribution::default()));
    Selection::new(snapshot, Recording::all(snapshot).map(whole).collect())
}

/// Checks that every cell has the type of its column, and every row a cell for each column.
struct Checked {
    kinds: Vec<Kind>,
    at: usize,
    rows: u64,
}

impl TableWriter for Checked {
    fn cell(&mut self, cell: Cell<'_>) -> io::Result<()> {
        let fits = match (&cell, self.kinds[self.at]) {
            (Cell::Null, _) => true,
            (Cell::Int(_), kind) => kind == Kind::Int,
            (Cell::Address(_), kind) => kind == Kind::Address,
            (Cell::Bool(_), kind) => kind == Kind::Bool,
            (Cell::Text(_) | Cell::Pool(_), kind) => kind == Kind::Text,
        };
        assert!(fits, "{cell:?} in column {}", self.at);
        self.at += 1;
        Ok(())
    }

    fn end_row(&mut self) -> io::Result<()> {
        assert_eq!(self.at, self.kinds.len());
        (self.at, self.rows) = (0, self.rows + 1);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        assert_eq!(self.at, 0);
        Ok(())
    }
}

/// Write the selection in all formats that are not tables: nothing may panic.
fn write_whole(selection: &Selection<'_>) {
    for format in FORMATS {
        if let Content::Database(write) | Content::Stacks(write) | Content::Trace(write) = format.content {
            let mut out = Vec::new();
            write(selection, &mut out, &mut Progress::new(&mut |_| ())).expect("memory can be written");
        }
    }
}

fn check(selection: &Selection<'_>) -> Vec<u64> {
    write_whole(selection);
    let count = |table: &Table| {
        let kinds = table.columns().iter().map(|column| column.kind).collect();
        let mut writer = Checked { kinds, at: 0, rows: 0 };
        table.write(selection, &mut writer, &mut Progress::new(&mut |_| ())).expect("nothing is written");
        writer.rows
    };
    TABLES.into_iter().map(count).collect()
}

proptest! {
    #[test]
    fn any_file_makes_whole_rows_of_the_right_types(events in any_events(), ends in [0u32..80, 0u32..80]) {
        let snapshot = Arc::new(snapshot(&events));
        let all = check(&everything(&snapshot));
        prop_assert_eq!(all[0], events.len() as u64);
        let recording = first(Arc::clone(&snapshot));
        let portion = || Portion::whole(recording.clone(), Arc::new(Attribution::default()));
        check(&Selection::new(&snapshot, vec![portion().within(ends)]));
        let moment = Moment(ends[0].min(events.len() as u32));
        let rows = check(&Selection::new(&snapshot, vec![portion().at(moment)]));
        prop_assert_eq!(rows[0], u64::from(moment.0));
        prop_assert_eq!(rows[1], recording.lifetimes.live_at(moment).count() as u64);
    }
}

/// One table in one format.
fn written(snapshot: &Arc<Snapshot>, format: &str, table: &str) -> String {
    let format = FORMATS.iter().find(|found| found.name == format).expect("a format");
    let table = TABLES.into_iter().find(|found| found.name == table).expect("a table");
    let mut out = Vec::new();
    match format.content {
        Content::Table(open) => {
            let mut writer = open(&mut out, &table.columns());
            let mut quiet = |_| ();
            let mut progress = Progress::new(&mut quiet);
            table.write(&everything(snapshot), &mut *writer, &mut progress).expect("memory can be written");
        }
        Content::Database(_) | Content::Stacks(_) | Content::Trace(_) => unreachable!("a format of tables"),
    }
    String::from_utf8(out).expect("the output is text")
}

#[test]
fn texts_are_kept_apart_from_what_surrounds_them() {
    let mut recording = stacks::Recording::default();
    let stack = recording.stack(&["a \"quoted\", file.py:3 =cmd\u{1b}[31m"]);
    recording.alloc(0, 512, stack, Some(7));
    let snapshot = Arc::new(recording.finish());
    assert_eq!(
        written(&snapshot, "jsonl", "frames"),
        "{\"stack\":1,\"position\":0,\"file\":\"a \\\"quoted\\\", file.py\",\"line\":3,\
         \"function\":\"=cmd\\u001b[31m\"}\n"
    );
    // Spreadsheets would run what begins with an equals sign, and terminals what an escape introduces.
    assert_eq!(
        written(&snapshot, "csv", "frames"),
        "stack,position,file,line,function\n1,0,\"a \"\"quoted\"\", file.py\",3,'=cmd\u{fffd}[31m\n"
    );
}

#[test]
fn a_table_without_rows_has_its_header() {
    let snapshot = Arc::default();
    assert_eq!(written(&snapshot, "csv", "frames"), "stack,position,file,line,function\n");
    assert_eq!(written(&snapshot, "jsonl", "frames"), "");
}

#[test]
fn the_documentation_lists_all_columns() {
    let documented = include_str!("../../../../../docs/export.md");
    let sections = TABLES.map(|table| section(table.name, table.about, &table.columns()));
    let expected = sections.concat();
    assert!(documented.contains(&expected), "docs/export.md must contain:\n{expected}");
}
