//! The order of the snapshots of a folder.

use crate::files::glances::{Look, Scan};
use crate::files::names::file_name;
use crate::texts::marked;
use oomscope_diagnosis::Severity;
use oomscope_snapshot::load::FolderEntry;
use std::cmp::Reverse;

/// A property to sort by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum FolderOrder {
    #[default]
    Name,
    Verdict,
    Peak,
    Size,
    Changed,
}

/// Severity and title of the verdict, and a number. Those that do not matter are equal for all files.
type Key = (Reverse<Option<(Severity, bool)>>, String, Reverse<i64>);

impl FolderOrder {
    /// Every order with its name.
    pub(super) const ALL: [(Self, &'static str); 5] = [
        (Self::Name, marked!("Name")),
        (Self::Verdict, marked!("Verdict")),
        (Self::Peak, marked!("Peak")),
        (Self::Size, marked!("Size")),
        (Self::Changed, marked!("Changed")),
    ];

    /// Sort files with what is known of them: the worst, the largest, the latest first.
    pub(super) fn sort(self, rows: &mut [(FolderEntry, Look)]) {
        rows.sort_by_cached_key(|(entry, look)| (self.key(entry, look), natural(&file_name(&entry.path))));
    }

    fn key(self, entry: &FolderEntry, look: &Look) -> Key {
        let glance = match look {
            Look::Done(Scan::Found(glance)) => Some(glance),
            _ => None,
        };
        let number = |number: Option<i64>| (Reverse(None), String::new(), Reverse(number.unwrap_or(-1)));
        match self {
            Self::Name => number(None),
            Self::Verdict => {
                let urgency = glance.map(|glance| (glance.severity, glance.spark.has_oom()));
                let title = glance.map(|glance| glance.title.clone());
                (Reverse(urgency), title.unwrap_or_default(), Reverse(0))
            }
            Self::Peak => number(glance.and_then(|glance| Some(glance.peak.at_least()?.0))),
            Self::Size => number(i64::try_from(entry.stamp.bytes()).ok()),
            Self::Changed => number(entry.stamp.modified_us()),
        }
    }
}

/// A name as texts that are followed by numbers, so that `rank10` comes after `rank9`.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = vec![(String::new(), 0_u64)];
    let mut was_digit = false;
    for c in name.chars() {
        let digit = c.to_digit(10);
        if digit.is_none() && was_digit {
            parts.push((String::new(), 0));
        }
        was_digit = digit.is_some();
        if let Some((text, number)) = parts.last_mut() {
            match digit {
                Some(digit) => *number = number.saturating_mul(10).saturating_add(u64::from(digit)),
                None => text.push(c),
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::glances::Glance;
    use oomscope_draw::SparkLine;
    use oomscope_model::{Bytes, Trust, TrustedBytes};
    use oomscope_snapshot::load::FileStamp;
    use std::sync::Arc;

    fn row(name: &str, glance: Option<(Severity, &str, i64)>) -> (FolderEntry, Look) {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
        let stamp = FileStamp::of(&path).expect("it is there");
        let look = glance.map_or(Look::Waiting, |(severity, title, peak_bytes)| {
            let peak = TrustedBytes::new(Bytes(peak_bytes), Trust::Known);
            let (spark, title) = (SparkLine::default(), title.to_owned());
            Look::Done(Scan::Found(Arc::new(Glance { spark, title, severity, peak, device: None })))
        });
        (FolderEntry { path: path.with_file_name(name), stamp }, look)
    }

    fn sorted(order: FolderOrder) -> Vec<String> {
        let mut rows = [
            row("rank10.pickle", Some((Severity::Info, "b", 30))),
            row("rank9.pickle", Some((Severity::Critical, "c", 10))),
            row("rank1.pickle", None),
            row("rank2.pickle", Some((Severity::Info, "a", 20))),
        ];
        order.sort(&mut rows);
        rows.iter().map(|(entry, _)| file_name(&entry.path).replace(".pickle", "")).collect()
    }

    #[test]
    fn names_are_in_the_order_of_their_numbers() {
        assert_eq!(sorted(FolderOrder::Name), ["rank1", "rank2", "rank9", "rank10"]);
        assert_eq!(natural("a1b02"), [("a".to_owned(), 1), ("b".to_owned(), 2)]);
    }

    #[test]
    fn the_worst_and_the_largest_come_first_and_unknown_ones_last() {
        assert_eq!(sorted(FolderOrder::Verdict), ["rank9", "rank2", "rank10", "rank1"]);
        assert_eq!(sorted(FolderOrder::Peak), ["rank10", "rank2", "rank9", "rank1"]);
        assert_eq!(sorted(FolderOrder::Size), sorted(FolderOrder::Name), "all are equally large");
    }
}
