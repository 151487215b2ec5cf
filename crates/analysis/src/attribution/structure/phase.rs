//! Phases, where they start, and what they are known by.

use crate::attribution::worded::worded;
use oomscope_model::EventIx;

worded! {
    /// A phase of a program.
    Phase
    /// Its meaning in a few words, for people.
    explains

    /// Before the first batch: the model is made.
    Init "init" "before the first batch: the model is made";
    /// A batch is loaded.
    Data "data" "a batch is loaded";
    /// A model is called to train it; the loss.
    Forward "forward" "a model is called to train it; the loss";
    /// Gradients are computed.
    Backward "backward" "gradients are computed";
    /// Clipping, the optimizer's step, and what follows until the next batch.
    Optimizer "optimizer" "clipping and the optimizer's step, until the next batch";
    /// A model is called without training it.
    Eval "eval" "a model is called without training it";
    /// The recording does not show it.
    Unknown "unknown" "the recording does not show it";
}

impl Phase {
    /// The phase with a name, in any case.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.key().eq_ignore_ascii_case(key))
    }
}

/// The evidence that a phase rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PhaseBasis {
    /// The program attached it to its events; asked only where they have no stacks.
    Metadata,
    /// The stacks of the events.
    Events,
    /// Steps that torch announced, and sizes and lifetimes between them, where events have no stacks.
    Announced,
    /// The memory that is live at the dump, where no event tells: the phase that left something behind last.
    LiveMemory,
}

impl PhaseBasis {
    /// Its name, as written to JSON.
    pub fn key(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::Events => "events",
            Self::Announced => "announced",
            Self::LiveMemory => "live_memory",
        }
    }

    /// The words to add to a phase for people; none where the events say it.
    pub fn text(self) -> Option<&'static str> {
        match self {
            Self::Metadata => Some("as the program's metadata say"),
            Self::Events => None,
            Self::Announced => Some("judging by the steps that torch announced"),
            Self::LiveMemory => Some("judging by what is live"),
        }
    }
}

/// A phase from its first event on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseStart {
    /// The first event.
    pub event: EventIx,
    /// The phase, until the next one starts.
    pub phase: Phase,
}

/// The start of the phase that an event lies in.
#[inline]
pub(super) fn phase_start_at(phases: &[PhaseStart], event: u32) -> Option<&PhaseStart> {
    let after = phases.partition_point(|start| start.event.0 <= event);
    after.checked_sub(1).and_then(|at| phases.get(at))
}
