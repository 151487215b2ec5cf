//! Outliers from the others, and the lines of code that make the difference.

use super::job::{Job, JobDevice};
use super::median::middle;
use crate::rank_excess::LineChange;
use oomscope_model::Bytes;
use std::collections::BTreeMap;

/// A row is an outlier if it is farther from the median than this many times the median absolute deviation.
const MEDIAN_DEVIATIONS: i64 = 3;

/// … and than this part of the median: less is no difference that anybody would act on.
const PART_OF_MEDIAN: i64 = 100;

/// Fewer rows have no median to be far from.
const MIN_ROWS: usize = 3;

/// A rank far from the median.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlier<'a> {
    /// The row.
    pub row: JobDevice<'a>,
    /// The row that it is compared with.
    pub median: JobDevice<'a>,
    /// How many bytes its active peak has more than that of the median.
    pub difference_bytes: Bytes,
    /// The lines whose bytes at the peaks differ, the largest difference first. They add up to the difference.
    pub lines: Vec<LineChange>,
}

/// The outliers of a job, the farthest first.
pub fn outliers(job: &Job) -> Vec<Outlier<'_>> {
    let rows = job.by_peak();
    let Some(median) = job.median() else { return Vec::new() };
    let peak = |row: &JobDevice<'_>| row.device.peak.active_bytes;
    let peaks: Vec<Bytes> = rows.iter().map(peak).collect();
    outlying(&peaks)
        .into_iter()
        .map(|at| rows[at])
        .map(|row| Outlier {
            row,
            median,
            difference_bytes: peak(&row) - peak(&median),
            lines: changes(row, median),
        })
        .collect()
}

/// Which of some peaks are outliers, the farthest from the median first.
pub fn outlying(peaks: &[Bytes]) -> Vec<usize> {
    let mut sorted = peaks.to_vec();
    sorted.sort_unstable();
    let Some(&median) = middle(&sorted).filter(|_| MIN_ROWS <= peaks.len()) else { return Vec::new() };
    let distance = |at: &usize| (peaks[*at] - median).abs();
    let mut distances: Vec<Bytes> = (0..peaks.len()).map(|at| distance(&at)).collect();
    distances.sort_unstable();
    let usual = middle(&distances).copied().unwrap_or_default();
    let least = (usual * MEDIAN_DEVIATIONS).max(median / PART_OF_MEDIAN);
    let mut found: Vec<usize> = (0..peaks.len()).filter(|at| least < distance(at)).collect();
    found.sort_by_key(|at| std::cmp::Reverse(distance(at)));
    found
}

/// The lines whose bytes at the peaks differ.
fn changes(row: JobDevice<'_>, median: JobDevice<'_>) -> Vec<LineChange> {
    let mut by_line: BTreeMap<&str, [Bytes; 2]> = BTreeMap::new();
    for (side, of) in [row, median].into_iter().enumerate() {
        for line in &of.device.peak.lines {
            by_line.entry(&line.line).or_default()[side] = line.bytes;
        }
    }
    let change = |(line, [bytes, median_bytes]): (&str, [Bytes; 2])| LineChange {
        line: line.to_owned(),
        bytes,
        median_bytes,
    };
    let mut changes: Vec<LineChange> = by_line.into_iter().map(change).collect();
    changes.retain(|change| change.difference_bytes() != 0);
    changes.sort_by_key(|change| std::cmp::Reverse(change.difference_bytes().abs()));
    changes
}
