//! A pass, or an evaluation: a range of events.

use std::ops::Range;

/// A forward with its backward, from the loading of its data on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pass {
    /// All of its events.
    pub events: Range<u32>,
    /// The first event of its backward; the end of the pass if the recording ends before.
    pub backward: u32,
}

/// A stretch of events in which models are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Span {
    /// One that trains.
    Pass(Pass),
    /// A call that does not, and whether it is a part of each step, as a teacher's is.
    Eval(Range<u32>, bool),
}

impl Span {
    /// All of its events.
    pub fn events(&self) -> &Range<u32> {
        match self {
            Self::Pass(pass) => &pass.events,
            Self::Eval(events, _) => events,
        }
    }

    /// The events of its forward.
    pub fn forward(&self) -> Range<u32> {
        match self {
            Self::Pass(pass) => pass.events.start..pass.backward,
            Self::Eval(events, _) => events.clone(),
        }
    }
}
