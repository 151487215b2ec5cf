//! The tables of a comparison, in their order.

use super::amounts::{change_word, portion_text};
use super::operators::{is_code, operator_text, operators_remark};
use super::rows::{line_text, module_text, pool_text};
use super::titled::{TitledTable, number, part, text};
use super::{ComparisonReport, promises};
use crate::diagnosis::{Cell, Column};
use crate::predicted::predicted_line;
use crate::trust::trust_sentences;
use crate::{settings, when_text};
use oomscope_analysis::comparison::{BothSides, Change, Portion, Restated, Since};
use oomscope_analysis::{Category, Verdict};
use oomscope_model::Bytes;
use oomscope_units as units;

const CHANGE: [Column; 4] = [number("A"), number("B"), number("change"), text("")];

/// All tables that have something to say.
pub(super) fn parts(report: &ComparisonReport<'_>) -> Vec<TitledTable> {
    let found = [
        Some(totals(report)),
        Some(categories(report)),
        modules(report),
        Some(lines(report)),
        operators(report),
        pools(report),
        judged_differently(report),
        allocator_settings(report),
        promises::table(report),
    ];
    found.into_iter().flatten().collect()
}

fn plain(bytes: i128) -> Cell {
    Cell::Number(units::bytes(Bytes::clamped(bytes)))
}

/// What is compared: a line for each side.
pub fn side_text(report: &ComparisonReport<'_>, side: usize) -> String {
    let of = report.sides[side];
    let position = of.attribution.phases.position_at(of.moment);
    let place = crate::position::position_text(position);
    let moment = super::sentence::moment_word(report, side);
    let mut parts = vec![units::printable(report.files[side]), of.recording.device.to_string()];
    // The event follows in any case.
    parts.extend((!moment.starts_with("event ")).then(|| format!("at {moment}")));
    parts.push(when_text(of.recording, of.moment));
    parts.extend(place);
    parts.extend(predicted_line(of.recording.snapshot()));
    parts.extend(trust_sentences(of.recording));
    parts.join(" · ")
}

fn totals(report: &ComparisonReport<'_>) -> TitledTable {
    let [a, b] = report.comparison.figures;
    let total = report.comparison.total();
    let row = |name: &str, a: i128, b: i128| {
        vec![
            Cell::Plain(name.to_owned()),
            plain(a),
            plain(b),
            Cell::Number(units::bytes_change(b.saturating_sub(a))),
        ]
    };
    let both = |name, [a, b]: [Bytes; 2]| row(name, i128::from(a), i128::from(b));
    let [live_a, live_b] = total.sides.map(|side| side.amount.bytes);
    let [older_a, older_b] = total.sides.map(|side| side.older_bytes);
    let rows = vec![
        row("active", live_a, live_b),
        row("of it from before", older_a, older_b),
        both("reserved", [a.reserved_bytes, b.reserved_bytes]),
        both("peak of the recording", [a.peak.1, b.peak.1]),
        both("most reserved", [a.reserved_peak.1, b.reserved_peak.1]),
    ];
    part("Totals", vec![text(""), number("A"), number("B"), number("change")], rows, Some(before(report)))
}

/// The meaning of “from before” on both sides.
fn before(report: &ComparisonReport<'_>) -> String {
    let begins = |side: usize| match report.comparison.figures[side].since {
        Since::Iteration(moment) => {
            format!("the iteration that begins with event {}", units::count(moment.0))
        }
        Since::Recording => "the recording".to_owned(),
    };
    let [a, b] = [begins(0), begins(1)];
    let what = if a == b { a } else { format!("{a} (A) and {b} (B)") };
    format!("From before: live already before {what}.")
}

fn changed_cells<K>(row: &BothSides<K>) -> Vec<Cell> {
    vec![
        plain(row.sides[0].amount.bytes),
        plain(row.sides[1].amount.bytes),
        Cell::Number(units::bytes_change(row.change_bytes())),
        Cell::Plain(change_word(row).to_owned()),
    ]
}

fn categories(report: &ComparisonReport<'_>) -> TitledTable {
    let rows = report.comparison.by_category();
    let has_apart = rows.iter().any(|row| row.restated_bytes() != 0);
    let cells = |row: &BothSides<Category>| {
        let mut cells = vec![Cell::Plain(row.key.label().to_owned())];
        cells.extend(row.sides.iter().map(|side| Cell::Number(portion_text(side))));
        cells.push(Cell::Number(units::bytes_change(row.change_bytes())));
        if has_apart {
            cells.push(Cell::Number(units::bytes_change(row.restated_bytes())));
        }
        cells.extend(row.sides.iter().map(|side| plain(side.older_bytes)));
        cells.push(Cell::Plain(change_word(row).to_owned()));
        cells
    };
    let mut columns = vec![text("category"), number("A"), number("B"), number("change")];
    if has_apart {
        columns.push(number("set apart"));
    }
    columns.extend([number("A from before"), number("B from before"), text("")]);
    let has_inferred = rows.iter().flat_map(|row| &row.sides).any(|side| side.inferred_bytes() != 0);
    let remark = has_inferred.then(|| format!("{}.", crate::CATEGORY_LEGEND));
    part("By category", columns, rows.iter().map(cells).collect(), remark)
}

/// The rows that changed most, one for all others that changed, and one for those that did not.
fn largest<K>(rows: &[BothSides<K>], top: usize, name: impl Fn(&BothSides<K>) -> Cell) -> Vec<Vec<Cell>> {
    let mut out: Vec<Vec<Cell>> = Vec::new();
    let is_changed = |row: &&BothSides<K>| row.change() != Change::Same || row.restated_bytes() != 0;
    let changed: Vec<&BothSides<K>> = rows.iter().filter(is_changed).collect();
    let same: Vec<&BothSides<K>> = rows.iter().filter(|row| !is_changed(row)).collect();
    let (first, rest) = changed.split_at(changed.len().min(top));
    out.extend(first.iter().map(|row| [changed_cells(row), vec![name(row)]].concat()));
    for rest in [rest, same.as_slice()].into_iter().filter(|rest| !rest.is_empty()) {
        let mut sides = [Portion::default(); 2];
        for row in rest {
            sides.iter_mut().zip(&row.sides).for_each(|(sum, side)| sum.add(side));
        }
        let name = Cell::Plain(units::counted(rest.len(), "other"));
        out.push([changed_cells(&BothSides { key: (), sides }), vec![name]].concat());
    }
    out
}

fn with_name(title: &'static str) -> Vec<Column> {
    CHANGE.into_iter().chain([text(title)]).collect()
}

/// Modules without what is below them, so that the rows add up. Left out where no module is known.
fn modules(report: &ComparisonReport<'_>) -> Option<TitledTable> {
    let found = report.comparison;
    let rows = found.by_module();
    let has_modules = rows
        .iter()
        .any(|row| found.modules.get(row.key as usize).is_some_and(|module| !module.name.is_empty()));
    let name = |row: &BothSides<u32>| Cell::Plain(module_text(found, row.key));
    let remark =
        "Each without the modules below it. Of parameters, gradients, optimizer state and activations.";
    has_modules.then(|| {
        part("By module", with_name("module"), largest(&rows, report.top, name), Some(remark.to_owned()))
    })
}

fn lines(report: &ComparisonReport<'_>) -> TitledTable {
    let found = report.comparison;
    let name = |row: &BothSides<u32>| {
        Cell::Code(found.lines.get(row.key as usize).map_or_else(String::new, line_text))
    };
    part("By line of code", with_name("line"), largest(&found.by_line(), report.top, name), None)
}

/// Left out where no operator is named.
fn operators(report: &ComparisonReport<'_>) -> Option<TitledTable> {
    let found = report.comparison;
    let rows = found.by_operator();
    let name = |row: &BothSides<u32>| {
        let name = operator_text(found, row.key);
        if is_code(found, row.key) { Cell::Code(name) } else { Cell::Plain(name) }
    };
    rows.iter().any(|row| is_code(found, row.key)).then(|| {
        let remark = operators_remark(found);
        part("By operator", with_name("operator"), largest(&rows, report.top, name), Some(remark))
    })
}

/// Left out where both sides have everything in one pool and stream.
fn pools(report: &ComparisonReport<'_>) -> Option<TitledTable> {
    let found = report.comparison;
    if found.pools.len() < 2 {
        return None;
    }
    let active = found.by_pool();
    let rows = found.pools.iter().zip(0u32..).map(|(pair, at)| {
        let none = BothSides { key: at, sides: [Portion::default(); 2] };
        let row = active.iter().find(|row| row.key == at).unwrap_or(&none);
        let [a, b] = pair.reserved_bytes;
        vec![
            Cell::Plain(pool_text(pair)),
            plain(row.sides[0].amount.bytes),
            plain(row.sides[1].amount.bytes),
            Cell::Number(units::bytes_change(row.difference_bytes())),
            plain(a),
            plain(b),
            Cell::Number(units::bytes_change(b.saturating_sub(a))),
        ]
    });
    let columns = ["A active", "B active", "change", "A reserved", "B reserved", "change"].map(number);
    let columns = std::iter::once(text("pool and stream")).chain(columns).collect();
    Some(part("By pool and stream", columns, rows.collect(), None))
}

fn verdict_text(verdict: Verdict) -> String {
    let rule = verdict.rule.rule();
    format!("{} ({}, {})", verdict.category.label(), rule.basis.key(), rule.id)
}

/// Memory that both sides have, under different rules. The rule alone is told in JSON.
fn judged_differently(report: &ComparisonReport<'_>) -> Option<TitledTable> {
    let of: Vec<&Restated> = report.comparison.restated.iter().filter(|found| found.matters()).collect();
    let rows: Vec<Vec<Cell>> = of
        .iter()
        .map(|found| {
            let [a, b] = found.verdicts.map(verdict_text);
            let count = units::count(i128::from(found.amount.count));
            vec![plain(found.amount.bytes), Cell::Number(count), Cell::Plain(a), Cell::Plain(b)]
        })
        .collect();
    let columns = vec![number("bytes"), number("blocks"), text("A"), text("B")];
    let remark = "Both sides have this memory in the same sizes, from the same lines or on one side without a stack. Other \
        rules decide what it is for, so it counts as no change.";
    (!rows.is_empty()).then(|| part("Judged differently", columns, rows, Some(remark.to_owned())))
}

fn allocator_settings(report: &ComparisonReport<'_>) -> Option<TitledTable> {
    let value = |value: &Option<oomscope_model::SettingValue>| {
        Cell::Code(value.as_ref().map_or_else(|| "not recorded".to_owned(), settings::value_text))
    };
    let rows: Vec<Vec<Cell>> = report
        .comparison
        .settings
        .iter()
        .map(|change| {
            let [a, b] = &change.values;
            vec![Cell::Code(units::printable(&change.name)), value(a), value(b)]
        })
        .collect();
    let columns = vec![text("setting"), text("A"), text("B")];
    (!rows.is_empty()).then(|| part("Allocator settings that differ", columns, rows, None))
}
