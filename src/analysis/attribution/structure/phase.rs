//! Phases, where they start, and what they are known by.

use crate::model::EventIx;

/// A phase of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Before the first batch: the model is made.
    Init,
    /// A batch is loaded.
    Data,
    /// A model is called to train it; the loss.
    Forward,
    /// Gradients are computed.
    Backward,
    /// Clipping, the optimizer's step, and what follows until the next batch.
    Optimizer,
    /// A model is called without training it.
    Eval,
    /// The recording does not show it.
    Unknown,
}

impl Phase {
    /// All phases.
    pub const ALL: [Self; 7] =
        [Self::Init, Self::Data, Self::Forward, Self::Backward, Self::Optimizer, Self::Eval, Self::Unknown];

    /// Its name, as written to JSON.
    pub fn key(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Data => "data",
            Self::Forward => "forward",
            Self::Backward => "backward",
            Self::Optimizer => "optimizer",
            Self::Eval => "eval",
            Self::Unknown => "unknown",
        }
    }

    /// The phase with a name, in any case.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.key().eq_ignore_ascii_case(key))
    }

    /// Its meaning in a few words, for people.
    pub fn explains(self) -> &'static str {
        match self {
            Self::Init => "before the first batch: the model is made",
            Self::Data => "a batch is loaded",
            Self::Forward => "a model is called to train it; the loss",
            Self::Backward => "gradients are computed",
            Self::Optimizer => "clipping and the optimizer's step, until the next batch",
            Self::Eval => "a model is called without training it",
            Self::Unknown => "the recording does not show it",
        }
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
