//! The user's choices: what stacks are weighed by, and how they are shown.

use super::weighing::StacksRequest;
use crate::device::{Derived, Standpoint};
use oomscope_analysis::{Direction, FrameKey, Measure, TreeOptions};
use oomscope_model::{Moment, Timeline};

/// The measure that stacks are weighed by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Live bytes at the cursor.
    #[default]
    Cursor,
    /// Live bytes at the peak.
    Peak,
    /// Bytes that were allocated from the mark to the cursor.
    Allocated,
    /// Live bytes at the end of a range less those at its start.
    Change,
    /// Bytes multiplied by the time for which they were live.
    ByteTime,
}

/// The arrangement of the tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) direction: Direction,
    pub(crate) shows_internal: bool,
}

/// The choices above the flame graph, and its zoom.
#[derive(Debug, Clone, Default)]
pub(crate) struct Controls {
    pub(crate) mode: Mode,
    pub(crate) options: Options,
    /// The search as it is written.
    pub(crate) search: String,
    /// The frames from the root to the one that fills the width.
    pub(crate) zoom: Vec<FrameKey>,
}

impl Controls {
    /// The request that these choices make.
    pub(super) fn request(&self, derived: &Derived, at: &Standpoint, timeline: &Timeline) -> StacksRequest {
        let (cursor, mark) = (at.cursor, at.mark);
        let measure = match (self.mode, mark) {
            (Mode::Cursor, _) => Measure::Live { at: cursor },
            (Mode::Peak, _) => Measure::Live { at: derived.figures.peak.0 },
            (Mode::Allocated, mark) => {
                // The mark may be on either side of the cursor.
                let mark = mark.unwrap_or(Moment::START);
                Measure::Allocated { after: mark.min(cursor), until: mark.max(cursor) }
            }
            (Mode::Change, _) => {
                let (from, to) = at.compared();
                Measure::Grown { from, to }
            }
            (Mode::ByteTime, Some(mark)) => {
                Measure::ByteTime { from: mark.min(cursor), to: mark.max(cursor) }
            }
            (Mode::ByteTime, None) => {
                let last = timeline.moments().saturating_sub(1);
                Measure::ByteTime { from: Moment::START, to: Moment(last as u32) }
            }
        };
        let Options { direction, shows_internal } = self.options;
        let options = TreeOptions { direction, folds_internal: !shows_internal };
        StacksRequest { measure, options, kept: derived.matches().cloned() }
    }

    /// Weigh stacks by allocations in a range, unless another measure of ranges is chosen.
    pub(crate) fn show_range(&mut self) {
        if matches!(self.mode, Mode::Cursor | Mode::Peak) {
            self.mode = Mode::Allocated;
        }
    }

    /// Weigh stacks by how they changed between two moments.
    pub(crate) fn show_change(&mut self) {
        self.mode = Mode::Change;
    }

    /// Take over the choices that do not depend on the contents of a file.
    pub(super) fn keep(&mut self, old: &Self) {
        self.mode = old.mode;
        self.options = old.options;
        self.search.clone_from(&old.search);
    }
}
