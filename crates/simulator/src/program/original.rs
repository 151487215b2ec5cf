//! The recorded program, which changed ones share what they leave as it is with.

use super::row::recorded_row;
use super::shared_rows::SharedRows;
use super::sums::OriginalSums;
use oomscope_model::Timeline;
use std::sync::OnceLock;

/// The allocations of the recorded program, and what they add up to once that is asked for.
#[derive(Debug)]
pub(super) struct Original {
    pub(super) rows: SharedRows,
    sums: OnceLock<OriginalSums>,
}

impl Original {
    pub(super) fn of(timeline: &Timeline) -> Self {
        let rows = SharedRows::new(timeline.lifetimes.len(), |id| recorded_row(timeline, id));
        Self { rows, sums: OnceLock::new() }
    }

    pub(super) fn sums(&self, timeline: &Timeline) -> &OriginalSums {
        self.sums.get_or_init(|| OriginalSums::of(timeline, self.rows.iter()))
    }
}
