//! Where activations rise and fall.

use super::humps::is_passing;
use super::tape::{Mark, Tape};

/// Passes that hold fewer activations at a time look like anything.
const MIN_HEIGHT: u32 = 8;

/// Those before an announced step may be smaller.
const MIN_HEIGHT_BEFORE_STEP: u32 = 4;

/// Where activations rise and fall.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) peak: u32,
    pub(super) down: u32,
    pub(super) height: u32,
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
    /// Where activations rise and fall in it, and whether a step follows at once.
    pub(super) fn spans(&self, tape: &Tape<'_>) -> Vec<(Span, bool)> {
        let mut most = 0;
        self.count(tape, |_, live| most = most.max(live));
        let least = if self.leads_to_step { MIN_HEIGHT_BEFORE_STEP } else { MIN_HEIGHT };
        let mut out = Vec::new();
        if most < least {
            return out;
        }
        let (low, high) = (most / 3, (most.saturating_mul(3) / 5).max(1));
        let mut span = Span { peak: self.from, down: self.from, height: 0 };
        self.count(tape, |event, live| {
            if span.height < live {
                (span.peak, span.height) = (event, live);
            }
            if live <= low {
                if high <= span.height {
                    out.push((Span { down: event, ..span }, false));
                }
                span = Span { peak: event, down: event, height: live };
            }
        });
        // What a pass leaves may stay until after the step.
        if self.leads_to_step && low < span.height && high <= span.height {
            out.push((Span { down: self.to.saturating_sub(1), ..span }, false));
        }
        if let Some(last) = out.last_mut() {
            last.1 = self.leads_to_step;
        }
        out
    }

    /// Calls back with how many activations of the window are live after each of their births and deaths.
    fn count(&self, tape: &Tape<'_>, mut visit: impl FnMut(u32, u32)) {
        let mut live = 0u32;
        let is_mine = |id| is_passing(tape, id) && self.from <= tape.birth(id);
        for event in self.from..self.to {
            match tape.at(event) {
                Mark::Birth(id) if is_mine(id) => live = live.saturating_add(1),
                Mark::Death(id) if is_mine(id) => live = live.saturating_sub(1),
                _ => continue,
            }
            visit(event, live);
        }
    }
}
