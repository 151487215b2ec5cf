//! One stack as text, with the figures of everything that was allocated with it.

use super::facts::{FrameText, frames};
use crate::texts::{self, marked};
use oomscope_analysis::{site_label, stack_lines};
use oomscope_model::{AllocId, Bytes, Moment, Recording, StackId, Timeline};
use oomscope_units as units;

/// Facts about the allocations of one stack.
pub(super) struct SiteFacts {
    pub(super) stack: StackId,
    pub(super) site: String,
    /// All of its allocations, in allocation order.
    allocations: Vec<AllocId>,
    pub(super) largest: Option<AllocId>,
    pub(super) frames: Vec<FrameText>,
    pub(super) copy: String,
    /// Bytes and blocks that are live at the peak.
    at_peak: (Bytes, usize),
}

impl SiteFacts {
    pub(super) fn new(recording: &Recording, stack: StackId) -> Self {
        let snapshot = recording.snapshot();
        let allocations: Vec<AllocId> = recording.ids().filter(|&id| recording.stack(id) == stack).collect();
        let size = |id: &&AllocId| (recording.size(**id), std::cmp::Reverse(id.0));
        Self {
            stack,
            site: site_label(snapshot, stack),
            largest: allocations.iter().max_by_key(size).copied(),
            allocations,
            frames: frames(snapshot, stack),
            copy: stack_lines(snapshot, stack).collect::<Vec<_>>().join("\n"),
            at_peak: live(recording, stack, recording.active.peak().0),
        }
    }

    /// Bytes and blocks that are live at a moment.
    pub(super) fn live_at(&self, timeline: &Timeline, moment: Moment) -> (Bytes, usize) {
        live(timeline, self.stack, moment)
    }

    /// Names and values; `here` is bytes and blocks that are live at the cursor.
    pub(super) fn rows(&self, timeline: &Timeline, here: (Bytes, usize)) -> Vec<(&'static str, String)> {
        let sum = |bytes: Bytes, blocks: usize| texts::in_blocks(&units::bytes_exact(bytes), blocks);
        let largest = self.largest.map(|id| timeline.size(id));
        vec![
            (marked!("At the cursor"), sum(here.0, here.1)),
            (marked!("At the peak"), sum(self.at_peak.0, self.at_peak.1)),
            (marked!("In all"), texts::allocations(self.allocations.len())),
            (marked!("Largest"), largest.map_or_else(String::new, units::bytes_exact)),
        ]
    }

    /// The stack's allocation next to another allocation, after or before it. Without another one, its first
    /// or its last.
    pub(super) fn neighbour(&self, of: Option<AllocId>, is_next: bool) -> Option<AllocId> {
        let Some(of) = of else {
            return if is_next { self.allocations.first() } else { self.allocations.last() }.copied();
        };
        let at = self.allocations.partition_point(|&id| id < of);
        let at = if is_next {
            at + usize::from(self.allocations.get(at) == Some(&of))
        } else {
            at.checked_sub(1)?
        };
        self.allocations.get(at).copied()
    }
}

fn live(timeline: &Timeline, stack: StackId, moment: Moment) -> (Bytes, usize) {
    let of_stack = timeline.lifetimes.live_at(moment).filter(|&id| timeline.stack(id) == stack);
    of_stack.fold((Bytes::ZERO, 0), |(bytes, blocks), id| (bytes + timeline.size(id), blocks + 1))
}
