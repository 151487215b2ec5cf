//! Peaks of activations: where they rise and fall within a stretch of events.

use super::lifetimes_by_event::{Change, LifetimesByEvent};
use crate::attribution::thresholds::MIN_TELLING_BLOCKS;

/// A pass makes at least this many blocks, and keeps as many while it is not over: a few outputs are kept by any, and two
/// optimizers that step one after the other make a few in between.
pub(super) const MIN_BLOCKS_OF_PASS: usize = 4;

/// Activations have fallen when at most one part in this many of the highest peak's are left.
const FALLEN_PART: usize = 3;

/// A peak counts if it holds at least three fifths of the highest one's activations: further micro-batches of an iteration
/// hold about as many, temporaries of other work far fewer.
const HIGH_FIFTHS: usize = 3;

/// A rise and fall of activations.
#[derive(Clone, Copy)]
pub(super) struct ActivationPeak {
    /// The event at which most are live, for the first time.
    pub(super) top: u32,
    /// The event at which they have fallen.
    pub(super) fallen: u32,
    /// Whether an optimizer's step follows at once.
    pub(super) leads_to_step: bool,
    /// How many are live at the top.
    height: usize,
}

/// A stretch of events in which passes are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) from: u32,
    pub(super) to: u32,
    /// Whether an optimizer steps at its end, so that its last pass trains.
    pub(super) leads_to_step: bool,
}

impl Window {
    /// The peaks of the window, in order.
    pub(super) fn peaks(&self, lifetimes: &LifetimesByEvent<'_>) -> Vec<ActivationPeak> {
        let mut most = 0;
        self.count_activations(lifetimes, |_, live| most = most.max(live));
        // A pass before an announced step may hold few activations: the step shows that there is one.
        let least = if self.leads_to_step { MIN_BLOCKS_OF_PASS } else { MIN_TELLING_BLOCKS };
        let mut out = Vec::new();
        if most < least {
            return out;
        }
        let low = most / FALLEN_PART;
        let high = most.saturating_mul(HIGH_FIFTHS) / 5;
        let start =
            |event, height| ActivationPeak { top: event, fallen: event, leads_to_step: false, height };
        let mut peak = start(self.from, 0);
        self.count_activations(lifetimes, |event, live| {
            if peak.height < live {
                (peak.top, peak.height) = (event, live);
            }
            if live <= low {
                if high <= peak.height {
                    out.push(ActivationPeak { fallen: event, ..peak });
                }
                peak = start(event, live);
            }
        });
        // Before a step, what a pass leaves may stay until after the step.
        if self.leads_to_step && low < peak.height && high <= peak.height {
            out.push(ActivationPeak { fallen: self.to.saturating_sub(1), ..peak });
        }
        if let Some(last) = out.last_mut() {
            last.leads_to_step = self.leads_to_step;
        }
        out
    }

    /// Call back with the number of live activations of the window after each that is made or freed.
    fn count_activations(&self, lifetimes: &LifetimesByEvent<'_>, mut visit: impl FnMut(u32, usize)) {
        let mut live = 0usize;
        let is_own = |id| lifetimes.is_freed_activation(id) && self.from <= lifetimes.alloc_event(id);
        for event in self.from..self.to {
            match lifetimes.change_at(event) {
                Change::Alloc(id) if is_own(id) => live = live.saturating_add(1),
                Change::Free(id) if is_own(id) => live = live.saturating_sub(1),
                _ => continue,
            }
            visit(event, live);
        }
    }
}
