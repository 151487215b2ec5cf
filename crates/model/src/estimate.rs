//! What a file says of itself that no device recorded: a program ran without one, and what it would have asked for was written down.

use super::Bytes;
use super::settings::{Setting, SettingValue, entry};

/// The recorder's key of an estimate.
pub const ESTIMATE_KEY: &str = "estimate";

/// The key of what is needed of devices within an estimate.
const NEEDED_KEY: &str = "needed";

/// The most devices that are read of a file: nobody asks about more.
const MAX_DEVICES: usize = 32;

/// The most memory that a device is believed to have: 1 PiB.
const MAX_DEVICE_BYTES: Bytes = Bytes(1 << 50);

/// A prediction of what a program asks for, by the key `estimate` of the recorder. All texts are as the file has them.
#[derive(Debug, Clone, PartialEq)]
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
    /// The share of a figure by which it may be off, from 0 to 1; `None` where the file does not say it.
    pub error_share: Option<f64>,
    /// What is needed of each device that was asked about.
    pub needed: Vec<NeededMemory<'a>>,
}

/// What a program needs of a device that was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeededMemory<'a> {
    /// The device, as it was named; empty where it has no name.
    pub name: &'a str,
    /// All memory of the device.
    pub total_bytes: Bytes,
    /// What the driver takes of it.
    pub context_bytes: Bytes,
    /// The least memory of a device on which every request is met, with what the driver takes.
    pub needed_bytes: Bytes,
    /// Whether every request is met on this device.
    pub fits: bool,
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
            error_share: entry(table, "error_share")
                .and_then(SettingValue::float)
                .filter(|share| (0.0..=1.0).contains(share)),
            needed: list(NEEDED_KEY).iter().filter_map(NeededMemory::of).take(MAX_DEVICES).collect(),
        })
    }
}

impl<'a> NeededMemory<'a> {
    /// Read from a table; `None` for sizes that no device has.
    fn of(value: &'a SettingValue) -> Option<Self> {
        let table = value.table()?;
        let bytes = |name| {
            let bytes = entry(table, name).and_then(SettingValue::int).map(Bytes);
            bytes.filter(|bytes| (Bytes::ZERO..=MAX_DEVICE_BYTES).contains(bytes))
        };
        Some(Self {
            name: text_of(table, "name").unwrap_or_default(),
            total_bytes: bytes("total_bytes")?,
            context_bytes: bytes("context_bytes")?,
            needed_bytes: bytes("needed_bytes")?,
            fits: entry(table, "fits").and_then(SettingValue::bool)?,
        })
    }

    /// The entry of an estimate that says what is needed of some devices.
    pub fn setting(needed: &[Self]) -> Setting {
        let entry = |name: &str, value| Setting { name: name.to_owned(), value };
        let table = |needed: &Self| {
            SettingValue::Table(vec![
                entry("name", SettingValue::Text(needed.name.to_owned())),
                entry("total_bytes", SettingValue::Int(needed.total_bytes.0)),
                entry("context_bytes", SettingValue::Int(needed.context_bytes.0)),
                entry("needed_bytes", SettingValue::Int(needed.needed_bytes.0)),
                entry("fits", SettingValue::Bool(needed.fits)),
            ])
        };
        entry(NEEDED_KEY, SettingValue::List(needed.iter().map(table).collect()))
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

    #[test]
    fn what_is_needed_is_read_as_it_was_written() {
        let needed = [
            NeededMemory {
                name: "H100",
                total_bytes: Bytes(80 << 30),
                context_bytes: Bytes(500 << 20),
                needed_bytes: Bytes(61 << 30),
                fits: true,
            },
            NeededMemory {
                name: "",
                total_bytes: Bytes(1),
                context_bytes: Bytes(0),
                needed_bytes: Bytes(2),
                fits: false,
            },
        ];
        let entries = vec![NeededMemory::setting(&needed), setting("error_share", SettingValue::Float(0.03))];
        let snapshot = snapshot(SettingValue::Table(entries));
        let found = snapshot.estimate().expect("an estimate");
        assert_eq!((found.needed, found.error_share), (needed.to_vec(), Some(0.03)));
    }

    #[test]
    fn sizes_and_shares_that_cannot_be_are_left_out() {
        let sizes = [i64::MIN, -1, (1 << 50) + 1, i64::MAX];
        let needed = sizes.map(|size| NeededMemory {
            name: "odd",
            total_bytes: Bytes(80),
            context_bytes: Bytes(0),
            needed_bytes: Bytes(size),
            fits: true,
        });
        for share in
            [SettingValue::Float(f64::NAN), SettingValue::Float(-0.1), SettingValue::Int(7), text("3 %")]
        {
            let entries = vec![NeededMemory::setting(&needed), setting("error_share", share)];
            let snapshot = snapshot(SettingValue::Table(entries));
            let found = snapshot.estimate().expect("an estimate");
            assert_eq!((found.needed, found.error_share), (Vec::new(), None));
        }
        let many = vec![NeededMemory { needed_bytes: Bytes(1), ..needed[0] }; 1000];
        let snapshot = snapshot(SettingValue::Table(vec![NeededMemory::setting(&many)]));
        assert_eq!(snapshot.estimate().expect("an estimate").needed.len(), MAX_DEVICES);
    }
}
