//! The first failure of a job, and how the other ranks stood at that time.

use super::job::{Job, JobDevice};
use super::summary::{DeviceSummary, FailureSummary};
use oomscope_model::Bytes;

/// The request that failed first.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstFailure<'a> {
    /// The row that failed.
    pub row: JobDevice<'a>,
    /// The failed request.
    pub failure: &'a FailureSummary,
    /// The other rows at that time, in their order. Empty where no time is known.
    pub others: Vec<(JobDevice<'a>, Standing)>,
}

/// A row at the time of a failure of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It had reserved these bytes.
    Reserved {
        /// Reserved bytes.
        bytes: Bytes,
    },
    /// Its recording does not reach to that time, or has no times.
    Unknown,
}

/// The request of a job that failed first by the clock, or without times in the first row; `None` if none failed. Of each
/// row, its last failed request counts: earlier ones did not end it.
pub fn first_failure(job: &Job) -> Option<FirstFailure<'_>> {
    let rows = job.rows();
    let failed = rows.iter().filter_map(|row| Some((*row, row.device.failure.as_ref()?)));
    let (row, failure) = failed.min_by_key(|(_, failure)| failure.time_us.unwrap_or(i64::MAX))?;
    let others = rows.iter().filter(|other| **other != row);
    let others = failure
        .time_us
        .map(|time_us| others.map(|other| (*other, standing(other.device, time_us))).collect());
    Some(FirstFailure { row, failure, others: others.unwrap_or_default() })
}

/// The reserved bytes of a device at a time.
fn standing(device: &DeviceSummary, time_us: i64) -> Standing {
    let until_us = |last: i64| device.taken_us.map_or(last, |taken| taken.max(last));
    let is_within = device.time_us.is_some_and(|[first, last]| (first..=until_us(last)).contains(&time_us));
    let after = device.reserved.partition_point(|&(changed_us, _)| changed_us <= time_us);
    let last = after.checked_sub(1).and_then(|at| device.reserved.get(at));
    match last.filter(|_| is_within) {
        Some(&(_, bytes)) => Standing::Reserved { bytes },
        None => Standing::Unknown,
    }
}
