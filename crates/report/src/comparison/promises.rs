//! What fixes of A promised, and what B took.

use super::ComparisonReport;
use super::titled::{TitledTable, number, part, text};
use crate::Promise;
use crate::diagnosis::Cell;
use crate::remedies::basis_text;
use oomscope_model::Bytes;
use oomscope_remedies::Trust;
use oomscope_units as units;
use serde::Serialize;

/// A promise, and what came of it.
#[derive(Serialize)]
pub(super) struct PromiseRecord {
    id: String,
    title: String,
    is_named: bool,
    was_kept: bool,
    peak_requested: u64,
    peak_reserved: u64,
    error: Option<f64>,
    fits: Option<bool>,
    took_requested: Bytes,
    took_reserved: Bytes,
    failed: bool,
    kept: Option<bool>,
}

/// All promises, those that come nearest to what B took first.
pub(super) fn promises(report: &ComparisonReport<'_>) -> Vec<PromiseRecord> {
    let took = report.comparison.figures[1];
    let failed = !report.sides[1].recording.ooms.is_empty();
    let far = |fix: &&Promise| (took.peak.1 - Bytes::of_size(fix.peak_requested)).abs();
    // A bound promises nothing.
    let is_told = |fix: &&Promise| report.promises.are_named || fix.basis == Trust::Simulated;
    let mut fixes: Vec<&Promise> = report.promises.fixes.iter().filter(is_told).collect();
    fixes.sort_by_key(far);
    let record = |fix: &Promise| PromiseRecord {
        id: fix.id.clone(),
        title: fix.title.clone(),
        is_named: report.promises.are_named,
        was_kept: report.promises.kept.is_some(),
        peak_requested: fix.peak_requested,
        peak_reserved: fix.peak_reserved,
        error: fix.error,
        fits: fix.fits,
        took_requested: took.peak.1,
        took_reserved: took.reserved_peak.1,
        failed,
        kept: is_kept(fix, took.peak.1, failed),
    };
    fixes.into_iter().map(record).collect()
}

/// Whether a program took as much as was promised, as far as that may be off, and did not fail if it was said to fit; `None` where
/// nothing was promised.
fn is_kept(fix: &Promise, took: Bytes, failed: bool) -> Option<bool> {
    let promised = Bytes::of_size(fix.peak_requested);
    let off = (took - promised).abs().as_f64();
    let error = fix.error.filter(|_| fix.basis == Trust::Simulated)?;
    // Whole bytes of allocations are rounded up where their sizes are scaled.
    let is_near = off <= (error * promised.as_f64()).max(f64::from(1 << 10));
    Some(if failed { fix.fits == Some(false) } else { is_near && fix.fits != Some(false) })
}

/// The table of promises, if there are any.
pub(super) fn table(report: &ComparisonReport<'_>) -> Option<TitledTable> {
    let all = promises(report);
    let took = all.first()?.took_requested;
    let is_named = report.promises.are_named;
    // Most of many changes were not made: that B is not as they promise says nothing against them.
    let words = |kept: Option<bool>| match kept {
        None => "a bound",
        Some(true) if is_named => "kept",
        Some(false) if is_named => "not kept",
        Some(true) => "as promised",
        Some(false) => "",
    };
    let row = |promise: &PromiseRecord| {
        let fix = report.promises.fixes.iter().find(|fix| fix.id == promise.id);
        let change = took - Bytes::of_size(promise.peak_requested);
        let share = 100.0 * change.as_f64() / promise.peak_requested.max(1) as f64;
        vec![
            Cell::Plain(promise.id.clone()),
            Cell::Number(units::bytes(Bytes::of_size(promise.peak_requested))),
            Cell::Plain(fix.map(|fix| basis_text(fix.basis, fix.error, fix.attribution)).unwrap_or_default()),
            Cell::Number(if promise.failed { "failed".to_owned() } else { units::bytes(took) }),
            Cell::Number(if promise.failed { String::new() } else { format!("{share:+.1} %") }),
            Cell::Plain(words(promise.kept).to_owned()),
        ]
    };
    let rows = all.iter().map(row).collect();
    let columns =
        vec![text("fix"), number("promised"), text("as"), number("B took"), number("off"), text("")];
    let order = if is_named {
        ""
    } else {
        ", the nearest first. Which change was made does not show: name it with --fix"
    };
    let kept = report.promises.kept.as_ref();
    let source = kept.map_or_else(String::new, |(file, version)| {
        format!(" As kept in {} by oomscope {version}.", units::printable(file))
    });
    let remark = format!("Peaks of requested bytes{order}.{source}");
    Some(part("What the fixes of A promised", columns, rows, Some(remark)))
}
