//! How stacks are weighed and shown, as the user chooses it.

use super::weighing::StacksRequest;
use crate::analysis::{Direction, FrameKey, Measure, TreeOptions};
use crate::app::device::{Derived, Standpoint};
use crate::model::{Moment, Timeline};

/// What stacks are weighed by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::app) enum Mode {
    /// Live bytes at the cursor.
    #[default]
    Cursor,
    /// Live bytes at the peak.
    Peak,
    /// What was allocated from the mark to the cursor.
    Allocated,
    /// How much memory was held for how long.
    ByteTime,
}

/// How the tree is built.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::app) struct Options {
    pub(in crate::app) direction: Direction,
    pub(in crate::app) shows_internal: bool,
}

/// The choices above the flame graph, and how it is zoomed.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct Controls {
    pub(in crate::app) mode: Mode,
    pub(in crate::app) options: Options,
    /// What is searched for.
    pub(in crate::app) search: String,
    /// The frames from the root to what fills the width.
    pub(in crate::app) zoom: Vec<FrameKey>,
}

impl Controls {
    /// What is to be shown.
    pub(super) fn request(&self, derived: &Derived, at: &Standpoint, timeline: &Timeline) -> StacksRequest {
        let (cursor, mark) = (at.cursor, at.mark);
        let measure = match (self.mode, mark) {
            (Mode::Cursor, _) => Measure::Live { at: cursor },
            (Mode::Peak, _) => Measure::Live { at: derived.figures.peak.0 },
            (Mode::Allocated, mark) => {
                let mark = mark.unwrap_or(Moment::START);
                Measure::Allocated { after: mark.min(cursor), until: mark.max(cursor) }
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

    /// Show what was allocated in a range, unless another measure of ranges is shown.
    pub(in crate::app) fn show_range(&mut self) {
        if matches!(self.mode, Mode::Cursor | Mode::Peak) {
            self.mode = Mode::Allocated;
        }
    }

    /// Take over from another version of the file what does not depend on its contents.
    pub(super) fn keep(&mut self, old: &Self) {
        self.mode = old.mode;
        self.options = old.options;
        self.search.clone_from(&old.search);
    }
}
