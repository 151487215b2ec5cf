//! The runs of reserved addresses at a moment.

use super::group::SizeClass;
use super::segment_classes::SegmentClasses;
use oomscope_model::{Bytes, Moment, PoolKey, Timeline};

/// A run of reserved addresses: a segment, or pages of an expandable segment without a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) addr: u64,
    pub(super) past_end: u64,
    pub(super) pool: Option<PoolKey>,
    pub(super) stream: Option<i64>,
    pub(super) class: Option<SizeClass>,
    pub(super) is_expandable: bool,
    /// False for a further run of the expandable segment before it.
    pub(super) starts_row: bool,
}

impl Run {
    /// True if two runs may belong to one expandable segment.
    pub(super) fn is_same_segment(&self, other: &Self) -> bool {
        let is_same_class = self.class.is_none() || other.class.is_none() || self.class == other.class;
        let is_same_owner = self.pool == other.pool && self.stream == other.stream;
        self.is_expandable && other.is_expandable && is_same_owner && is_same_class
    }
}

/// The runs at a moment, by address.
pub(super) fn runs(
    classes: &SegmentClasses,
    max_gap_bytes: Bytes,
    timeline: &Timeline,
    moment: Moment,
) -> Vec<Run> {
    let run = |range: &oomscope_model::ReservedRange| Run {
        addr: range.addr,
        past_end: range.addr.saturating_add(range.size.as_u64()),
        pool: range.pool,
        stream: range.stream,
        class: classes.class_of_range(timeline, range),
        is_expandable: range.is_expandable,
        starts_row: true,
    };
    let mut runs: Vec<Run> = timeline.ranges.live_at(moment).map(run).collect();
    runs.sort_unstable_by_key(|run| run.addr);
    // Pages that touch are one run, however they were mapped.
    runs.dedup_by(|run, before| {
        // Sizes of parts are signed; a damaged file may have addresses that are farther apart.
        let fits = i64::try_from(run.past_end.saturating_sub(before.addr)).is_ok();
        let is_joined = before.past_end == run.addr && before.is_same_segment(run) && fits;
        if is_joined {
            before.past_end = run.past_end;
            before.class = before.class.or(run.class);
        }
        is_joined
    });
    mark_rows(&mut runs, max_gap_bytes);
    runs
}

/// Mark the runs that start a row. Runs are ordered by address, and those of one expandable segment are at
/// most `max_gap_bytes` apart.
pub(super) fn mark_rows(runs: &mut [Run], max_gap_bytes: Bytes) {
    for i in 1..runs.len() {
        let (before, run) = (&runs[i - 1], &runs[i]);
        let gap = run.addr.saturating_sub(before.past_end);
        runs[i].starts_row = !before.is_same_segment(run) || max_gap_bytes.as_u64() < gap;
    }
}
