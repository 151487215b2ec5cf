//! What a file says of itself that no device recorded: a program ran without one, and what it would have asked for was written down.

use super::settings::{Setting, SettingValue, entry};

/// The recorder's key of an estimate.
pub const ESTIMATE_KEY: &str = "estimate";

/// A prediction of what a program asks for, by the key `estimate` of the recorder. All texts are as the file has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate<'a> {
    /// The program, as it was named; empty where the file does not say it.
    pub program: &'a str,
    /// The steps that it ran; `None` where the file does not say it.
    pub steps: Option<i64>,
    /// Why the program would ask for more; `None` where nothing is known to be missing.
    pub lower_bound: Option<&'a str>,
    /// What was not run as a device would run it.
    pub notes: Vec<EstimateNote<'a>>,
    /// The files that the program would have written, and did not.
    pub would_write: Vec<&'a str>,
}

/// Something that was not run as a device would run it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EstimateNote<'a> {
    /// What, and what was done instead.
    pub what: &'a str,
    /// The line of the program; empty where it has none.
    pub place: &'a str,
    /// Number of times.
    pub count: i64,
}

impl<'a> Estimate<'a> {
    /// Read from the value of its key; `None` if that is no table.
    pub(super) fn of(value: &'a SettingValue) -> Option<Self> {
        let table = value.table()?;
        let list = |name| entry(table, name).and_then(SettingValue::list).unwrap_or_default();
        Some(Self {
            program: text_of(table, "program").unwrap_or_default(),
            steps: entry(table, "steps").and_then(SettingValue::int),
            lower_bound: text_of(table, "lower_bound").filter(|why| !why.is_empty()),
            notes: list("notes").iter().filter_map(EstimateNote::of).collect(),
            would_write: list("would_write").iter().filter_map(SettingValue::text).collect(),
        })
    }
}

impl<'a> EstimateNote<'a> {
    fn of(value: &'a SettingValue) -> Option<Self> {
        let table = value.table()?;
        Some(Self {
            what: text_of(table, "what")?,
            place: text_of(table, "where").unwrap_or_default(),
            count: entry(table, "count").and_then(SettingValue::int).unwrap_or(1),
        })
    }
}

fn text_of<'a>(table: &'a [Setting], name: &str) -> Option<&'a str> {
    entry(table, name)?.text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Snapshot;

    fn setting(name: &str, value: SettingValue) -> Setting {
        Setting { name: name.to_owned(), value }
    }

    fn text(text: &str) -> SettingValue {
        SettingValue::Text(text.to_owned())
    }

    fn snapshot(estimate: SettingValue) -> Snapshot {
        Snapshot { recorder: vec![setting("estimate", estimate)], ..Snapshot::default() }
    }

    #[test]
    fn a_recording_is_no_estimate() {
        assert_eq!(Snapshot::default().estimate(), None);
        assert_eq!(snapshot(SettingValue::Int(1)).estimate(), None);
    }

    #[test]
    fn what_strangers_wrote_is_left_out() {
        let notes = SettingValue::List(vec![
            text("no table"),
            SettingValue::Table(vec![setting("where", text("a.py:3"))]),
            SettingValue::Table(vec![setting("what", text("nonzero"))]),
        ]);
        let table = vec![
            setting("program", SettingValue::Int(5)),
            setting("steps", text("two")),
            setting("lower_bound", SettingValue::None),
            setting("notes", notes),
            setting("would_write", SettingValue::List(vec![SettingValue::None, text("model.pt")])),
        ];
        let snapshot = snapshot(SettingValue::Table(table));
        let found = snapshot.estimate().expect("an estimate");
        assert_eq!((found.program, found.steps, found.lower_bound), ("", None, None));
        assert_eq!(found.notes, [EstimateNote { what: "nonzero", place: "", count: 1 }]);
        assert_eq!(found.would_write, ["model.pt"]);
    }
}
