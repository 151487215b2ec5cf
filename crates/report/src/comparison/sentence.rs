//! The first sentence: where the difference comes from.

use super::ComparisonReport;
use super::amounts::{is_mostly_inferred, pair_text};
use crate::settings::value_text;
use oomscope_analysis::Category;
use oomscope_analysis::comparison::{BothSides, Cause, CausePlace, Comparison, SettingChange};
use oomscope_model::{Bytes, Moment, SettingValue};
use oomscope_units as units;

/// A category that did not change is named if it has at least one part in this many of the larger side.
const LARGE_PART: i128 = 10;

/// Where the difference of two sides comes from: `peak 51.0 → 33.8 GiB: activations of attention 15.1 → 0.9 GiB; optimizer
/// state as before; reserved 5.6 GiB more`.
pub fn comparison_sentence(report: &ComparisonReport<'_>) -> String {
    let found = report.comparison;
    let total = found.total().sides.map(|side| side.amount.bytes);
    let subject = subject(report);
    if found.is_same() {
        return format!("nothing differs: {subject} {}, in the same places", bytes(total[1]));
    }
    let mut parts: Vec<String> = found.causes().iter().map(|cause| cause_text(found, cause)).collect();
    parts.extend(restated(found, total));
    if parts.is_empty() {
        parts.push("for the same purposes".to_owned());
    } else {
        parts.extend(as_before(found, total));
    }
    parts.push(reserved(found));
    parts.extend(settings(found));
    let head = if shown(total[0]) == shown(total[1]) {
        format!("{subject} as before, {}", bytes(total[1]))
    } else {
        format!("{subject} {}", pair_text(total))
    };
    format!("{head}: {}", parts.join("; "))
}

fn bytes(bytes: i128) -> String {
    units::bytes(Bytes::clamped(bytes))
}

/// Figures that read alike are told as the same.
fn shown(bytes: i128) -> String {
    self::bytes(bytes)
}

/// What the totals are: the peak, or what is active at other moments.
fn subject(report: &ComparisonReport<'_>) -> String {
    let [a, b] = [0, 1].map(|side| moment_word(report, side));
    match (a.as_str(), b.as_str()) {
        ("the peak", "the peak") => "peak".to_owned(),
        _ if a == b => format!("active at {a}"),
        _ => format!("active at {a} and at {b}"),
    }
}

/// A side's moment, as users name it.
pub(super) fn moment_word(report: &ComparisonReport<'_>, side: usize) -> String {
    let timeline = report.sides[side].recording.timeline();
    let moment = report.sides[side].moment;
    let is_oom = || timeline.ooms.iter().any(|oom| Moment::after(oom.event) == moment);
    match moment.event() {
        _ if timeline.active.peak().0 == moment => "the peak".to_owned(),
        _ if is_oom() => "the OOM".to_owned(),
        _ if moment.index() + 1 == timeline.moments() => "the end".to_owned(),
        Some(event) => format!("event {}", units::count(event.0)),
        None => "the start".to_owned(),
    }
}

fn cause_text(found: &Comparison, cause: &Cause) -> String {
    let inferred = if is_mostly_inferred(&cause.sides) { "≈ " } else { "" };
    let sides = BothSides { key: (), sides: cause.sides }.comparable_bytes();
    let place = match &cause.place {
        None => String::new(),
        Some(CausePlace::Modules(names)) => format!(" of {}", innermost(names)),
        Some(CausePlace::Line(line)) => {
            format!(" of {}", found.lines.get(*line as usize).map_or("", |line| line.label()))
        }
    };
    format!("{}{place} {inferred}{}", cause.category.label(), pair_text(sides))
}

/// The two innermost classes, which tell which `Linear` is meant; where only the line is known, that says enough.
fn innermost(names: &[String]) -> String {
    let shown = if names.last().is_some_and(|name| name.contains(' ')) { 1 } else { 2 };
    names[names.len().saturating_sub(shown)..].join(" › ")
}

/// Memory that is judged differently, if it is much.
fn restated(found: &Comparison, total: [i128; 2]) -> Option<String> {
    let of = found.restated.iter().filter(|found| found.is_of_other_category());
    let bytes = of.fold(0i128, |sum, found| sum.saturating_add(found.amount.bytes));
    is_large(bytes, total).then(|| format!("{} are judged differently and set apart", self::bytes(bytes)))
}

fn is_large(bytes: i128, total: [i128; 2]) -> bool {
    let whole = total[0].max(total[1]);
    0 < bytes && whole / LARGE_PART <= bytes
}

/// The large categories that did not change.
fn as_before(found: &Comparison, total: [i128; 2]) -> Option<String> {
    let is_same = |row: &BothSides<Category>| {
        let [a, b] = row.sides.map(|side| side.amount.bytes);
        is_large(b, total) && shown(a) == shown(b) && row.restated_bytes() == 0
    };
    let same: Vec<&str> =
        found.by_category().iter().filter(|row| is_same(row)).map(|row| row.key.label()).collect();
    let (last, first) = same.split_last()?;
    let names =
        if first.is_empty() { (*last).to_owned() } else { format!("{} and {last}", first.join(", ")) };
    Some(format!("{names} as before"))
}

/// The settings that differ, if they are few. The variable is where most of them come from.
fn settings(found: &Comparison) -> Option<String> {
    const MOST: usize = 2;
    let is_own = |change: &&SettingChange| !change.name.ends_with("_CONF");
    let own: Vec<&SettingChange> = found.settings.iter().filter(is_own).collect();
    let text = |change: &&SettingChange| {
        let value = |value: &Option<SettingValue>| {
            value.as_ref().map_or_else(|| "not recorded".to_owned(), value_text)
        };
        let [a, b] = &change.values;
        format!("{} {} → {}", units::printable(&change.name), value(a), value(b))
    };
    match own.len() {
        0 => None,
        1..=MOST => Some(own.iter().map(text).collect::<Vec<_>>().join(", ")),
        more => Some(format!("{} differ", units::counted(more, "allocator setting"))),
    }
}

fn reserved(found: &Comparison) -> String {
    let change = found.reserved_change_bytes();
    match change {
        Bytes::ZERO => "reserved as before".to_owned(),
        _ if 0 < change => format!("reserved {} more", units::bytes(change)),
        _ => format!("reserved {} less", units::bytes(-change)),
    }
}
