//! The sentences about a job that all formats have.

use crate::category_text;
use crate::trust::in_short;
use oomscope_diagnosis::ranks;
use oomscope_diagnosis::ranks::{FirstFailure, HeatAxis, Job, JobDevice, Outlier, Standing};
use oomscope_model::Why;
use oomscope_units as units;
use std::path::Path;

/// Categories that a row names: the largest say what a rank is full of.
pub(super) const NAMED_CATEGORIES: usize = 2;

/// Ranks without a file that are named.
const NAMED_MISSING: usize = 8;

/// Lines of code in a sentence.
const SENTENCE_LINES: usize = 3;

/// Lines of code that are listed of an outlier.
pub const LISTED_LINES: usize = 6;

/// Outliers and are described. The table has all of them.
pub const LISTED_RANKS: usize = 3;

/// The job in a sentence: its size, its failures and its peaks.
pub fn headline(job: &Job) -> String {
    let rows = job.rows();
    let unread = job.files().iter().filter(|file| file.devices.is_err()).count();
    let failed = rows.iter().filter(|row| row.device.failure.is_some()).count();
    let mut parts = vec![units::counted(job.files().len(), "file")];
    if rows.len() + unread != job.files().len() {
        parts.push(units::counted(rows.len(), "device"));
    }
    parts.extend((failed != 0).then(|| format!("{} ran out of memory", units::count(failed as u64))));
    let missing = job.missing();
    parts.extend((!missing.is_empty()).then(|| missing_text(&missing)));
    let older = job.older().len();
    parts.extend((older != 0).then(|| format!("{} left out", units::counted(older, "older file"))));
    parts.extend((unread != 0).then(|| format!("{} could not be read", units::count(unread as u64))));
    let peaks = job.by_peak();
    if let (Some(&least), Some(&most), Some(median)) = (peaks.first(), peaks.last(), job.median()) {
        let [least, most, median] = [least, most, median].map(peak);
        parts.push(format!("peaks from {least} to {most}, median {median}"));
    }
    let unknown = rows.len() - peaks.len();
    parts.extend((unknown != 0).then(|| format!("{} not known", units::counted(unknown, "peak"))));
    parts.join(" · ")
}

/// Which ranks left no file.
fn missing_text(missing: &[u32]) -> String {
    let named: Vec<String> = missing.iter().take(NAMED_MISSING).map(u32::to_string).collect();
    let more = missing.len() - named.len();
    let more = if more == 0 { String::new() } else { format!(" and {} more", units::count(more as u64)) };
    let word = if missing.len() == 1 { "rank" } else { "ranks" };
    format!("no file of {word} {}{more}", named.join(", "))
}

/// The categories that a row is full of.
pub(super) fn categories(row: JobDevice<'_>) -> String {
    let named = row.device.peak.categories.iter().take(NAMED_CATEGORIES);
    named.map(category_text).collect::<Vec<_>>().join(", ")
}

/// The end of a row: its failure, if one failed.
pub fn outcome(row: JobDevice<'_>) -> String {
    let mut whys: Vec<&str> = row.device.trust.whys().into_iter().map(in_short).collect();
    let damaged = in_short(Why::Damaged);
    if row.device.is_damaged && !whys.contains(&damaged) {
        whys.insert(0, damaged);
    }
    if row.device.is_predicted {
        whys.insert(0, "predicted");
    }
    let why = whys.join(", ");
    let Some(failure) = &row.device.failure else {
        let none = if row.device.trust.failed_requests.is_known() { "no OOM" } else { "no OOM recorded" };
        return if why.is_empty() { none.to_owned() } else { format!("{none}; {why}") };
    };
    let event = failure
        .moment
        .event()
        .map_or_else(String::new, |event| format!(" at event {}", units::count(event.0)));
    let requested = units::bytes(failure.requested_bytes);
    let text = format!("OOM{event}: {requested} requested");
    if why.is_empty() { text } else { format!("{text}; {why}") }
}

/// The peak of a row, as far as it is known.
pub(super) fn peak(row: JobDevice<'_>) -> String {
    row.device.peak_active().written(units::bytes)
}

/// The most reserved bytes of a row, as far as they are known.
pub(super) fn peak_reserved(row: JobDevice<'_>) -> String {
    row.device.peak_reserved().written(units::bytes)
}

/// A row at the start of a sentence. Names of files stay as they are.
fn subject(row: JobDevice<'_>) -> String {
    if row.file.rank.is_some() { units::capitalised(&row.name()) } else { row.name() }
}

/// An outlier, in a sentence.
pub fn outlier_text(outlier: &Outlier<'_>) -> String {
    let [peak, median] = [outlier.row, outlier.median].map(peak);
    let difference = units::bytes(outlier.difference_bytes.abs());
    let word = if outlier.difference_bytes < 0 { "less" } else { "more" };
    format!(
        "{} is an outlier: {difference} {word} at its peak than {}, the median ({peak} against {median})",
        subject(outlier.row),
        outlier.median.name(),
    )
}

/// The first failure, in a sentence.
pub fn failure_text(first: &FirstFailure<'_>) -> String {
    let when = first.failure.time_us.map_or_else(String::new, |us| format!(", {}", units::date_time_us(us)));
    let event = first
        .failure
        .moment
        .event()
        .map_or_else(String::new, |event| format!(" at event {}", units::count(event.0)));
    format!(
        "First failure: {}, {} requested{event} with {} reserved{when}",
        first.row.name(),
        units::bytes(first.failure.requested_bytes),
        units::bytes(first.failure.reserved_bytes),
    )
}

/// How the other rows stood at the first failure, a text each; `None` if nothing is known of any.
pub fn standings(first: &FirstFailure<'_>) -> Option<Vec<String>> {
    let capacity = first.row.device.capacity_bytes;
    let known = first.others.iter().any(|(_, standing)| *standing != Standing::Unknown);
    let text = |(row, standing): &(JobDevice<'_>, Standing)| match *standing {
        Standing::Unknown => format!("{}: not recorded then", row.name()),
        Standing::Reserved { bytes } => {
            let free = capacity.map(|capacity| units::bytes((capacity - bytes).or_zero()));
            let free = free.map_or_else(String::new, |free| format!(", ≈ {free} free"));
            format!("{}: {} reserved{free}", row.name(), units::bytes(bytes))
        }
    };
    known.then(|| first.others.iter().map(text).collect())
}

/// A file of a job among the others, in sentences: what it has more or less, and how the others stood when it failed.
pub fn among(job: &Job, path: &Path) -> Vec<String> {
    let mut sentences = vec![units::capitalised(&headline(job))];
    let outliers = ranks::outliers(job);
    for row in job.rows().into_iter().filter(|row| row.file.path == path) {
        match outliers.iter().find(|outlier| outlier.row == row) {
            Some(outlier) => {
                let lines = outlier.lines.iter().take(SENTENCE_LINES);
                let lines: Vec<String> = lines
                    .map(|change| {
                        format!("{} {}", units::bytes_change(change.difference_bytes()), change.line)
                    })
                    .collect();
                sentences.push(format!("{}: {}", outlier_text(outlier), lines.join(", ")));
            }
            None if row.device.peak_active().at_least().is_none() => {
                sentences.push(format!("The peak of {} is not known", row.name()));
            }
            None => sentences.push(format!("{} is no outlier", subject(row))),
        }
    }
    if let Some(first) = ranks::first_failure(job) {
        sentences.push(failure_text(&first));
        if let Some(standings) = standings(&first) {
            let note = free_note(&first).map_or_else(String::new, |note| format!(" ({note})"));
            sentences.push(format!("The others then{note}:"));
            sentences.extend(standings);
        }
    }
    sentences
}

/// Most reserved memory of all rows on one GPU, in a sentence.
pub(super) fn together_text(job: &Job) -> String {
    let rows = job.rows();
    let Some(found) = ranks::together(&rows) else {
        return "Together: not known, as the recordings do not overlap in time, or have no times".to_owned();
    };
    let [from, to] = found.within_us.map(units::date_time_us);
    let shares: Vec<String> = rows
        .iter()
        .zip(&found.shares)
        .map(|(row, bytes)| format!("{} {}", row.name(), units::bytes(*bytes)))
        .collect();
    format!(
        "Together on one GPU: {} reserved at most, at {} ({}). All of them were recorded from {from} to {to}",
        units::bytes(found.bytes),
        units::date_time_us(found.time_us),
        shares.join(", "),
    )
}

/// The source of the free bytes of [`standings`].
pub fn free_note(first: &FirstFailure<'_>) -> Option<String> {
    let capacity = units::bytes(first.row.device.capacity_bytes?);
    let name = first.row.name();
    Some(format!(
        "≈: if their devices have room for {capacity}, as that of {name}; other processes are left out"
    ))
}

/// The meaning of the columns of the heat map.
pub fn axis_text(axis: HeatAxis) -> String {
    match axis {
        HeatAxis::Iterations([first, last]) => {
            format!("iterations {} to {}", units::count(first), units::count(last))
        }
        HeatAxis::LastIterations(count) => {
            format!("the last {}, as their numbers are not known", units::counted(count, "iteration"))
        }
        HeatAxis::Events => "equal parts of the events of each, as iterations are not known".to_owned(),
    }
}
