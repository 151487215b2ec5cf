//! The figures of a range, in the background.

use crate::work::by_ptr::ByPtr;
use crate::work::worker::Task;
use oomscope_analysis::{Attribution, Category, Clock, MomentRange, RangeSums, StackLabels, range_sums};
use oomscope_model::{Bytes, Moment, Recording, StackId};
use std::sync::{Arc, OnceLock};

/// Everything that the figures of a range depend on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RangeRequest {
    pub(super) range: MomentRange,
    /// Categories, once they are found.
    pub(super) attribution: Option<ByPtr<Attribution>>,
    /// The lines of code of stacks, once they are put together.
    pub(super) labels: Option<ByPtr<StackLabels>>,
}

/// A range in figures.
#[derive(Debug)]
pub(crate) struct RangeFigures {
    pub(crate) range: MomentRange,
    /// Microseconds from its start to its end, if every event has a time.
    pub(super) duration_us: Option<i64>,
    pub(crate) sums: RangeSums,
    /// The first moment from its start to its end at which most bytes are active, and these.
    pub(super) peak: Option<(Moment, Bytes)>,
    pub(super) by_category: Vec<RangeRow<Category>>,
    /// Each line has the stack that allocated or freed most.
    pub(super) by_line: Vec<RangeRow<StackId>>,
}

/// The part of a range's changes that belongs to a category or a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RangeRow<K> {
    pub(super) key: K,
    pub(super) sums: RangeSums,
}

/// Finds the figures of ranges of one device.
#[derive(Clone)]
pub(super) struct RangeTask {
    recording: Recording,
    clock: Arc<OnceLock<Clock>>,
}

impl RangeTask {
    pub(super) fn new(recording: Recording) -> Self {
        Self { recording, clock: Arc::default() }
    }

    fn by_category(&self, range: MomentRange, found: &Attribution) -> Vec<RangeRow<Category>> {
        let group = |id| found.categories.get(id) as usize;
        let sums = range_sums(self.recording.timeline(), range, Category::ALL.len(), group);
        let rows = Category::ALL.into_iter().zip(sums).map(|(key, sums)| RangeRow { key, sums });
        rows.filter(|row| row.sums != RangeSums::default()).collect()
    }

    fn by_line(by_stack: Vec<RangeSums>, labels: &StackLabels) -> Vec<RangeRow<StackId>> {
        let rows = (0..).map(StackId).zip(by_stack).map(|(key, sums)| RangeRow { key, sums });
        let mut rows: Vec<RangeRow<StackId>> = rows.filter(|row| row.sums != RangeSums::default()).collect();
        // The stack with most changes comes first and stands for its line.
        rows.sort_by_key(|row| {
            let sums = row.sums;
            (labels.rank(row.key), std::cmp::Reverse(sums.allocated.bytes.saturating_add(sums.gone.bytes)))
        });
        rows.dedup_by(|next, first| {
            let is_same = labels.rank(next.key) == labels.rank(first.key);
            if is_same {
                first.sums.add(&next.sums);
            }
            is_same
        });
        rows
    }
}

impl Task for RangeTask {
    type Request = RangeRequest;
    type Response = Arc<RangeFigures>;

    fn run(&self, request: &RangeRequest) -> Arc<RangeFigures> {
        let (range, timeline) = (request.range, self.recording.timeline());
        let clock = *self.clock.get_or_init(|| Clock::of(timeline));
        let stacks = self.recording.snapshot().stacks.len();
        let by_stack = range_sums(timeline, range, stacks, |id| timeline.stack(id).index());
        let mut sums = RangeSums::default();
        for stack in &by_stack {
            sums.add(stack);
        }
        Arc::new(RangeFigures {
            range,
            duration_us: clock.has_times().then(|| clock.between(timeline, range.from, range.to)),
            sums,
            peak: timeline.active.peak_in(range.from.index()..range.to.index().saturating_add(1)),
            by_category: request
                .attribution
                .as_ref()
                .map_or_else(Vec::new, |found| self.by_category(range, found)),
            by_line: request.labels.as_ref().map_or_else(Vec::new, |labels| Self::by_line(by_stack, labels)),
        })
    }
}
