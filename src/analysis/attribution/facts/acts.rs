//! What the program was doing at each event.

use super::place::{Part, Places};
use crate::model::{Action, EventIx, StackId, Timeline};

/// An activity, as far as an event shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::analysis) enum Act {
    /// The event says nothing.
    Nothing,
    /// Parameters are made or loaded, or libraries make buffers: may happen at any time.
    Aside,
    /// Code outside of models, optimizers and autograd.
    Main,
    /// A batch is loaded.
    Data,
    /// A model is called.
    Call,
    /// Gradients are computed.
    Backward,
    /// An optimizer steps.
    Step,
    /// Gradients are dropped, scaled or clipped.
    Gradients,
}

impl Act {
    fn of(part: Part) -> Self {
        match part {
            Part::Nothing => Self::Nothing,
            Part::Load | Part::Restore | Part::Comm | Part::Workspace => Self::Aside,
            Part::Call => Self::Call,
            Part::Backward | Part::Recompute => Self::Backward,
            Part::State | Part::Foreach | Part::Step => Self::Step,
            Part::ZeroGrad | Part::BetweenSteps => Self::Gradients,
            Part::Data => Self::Data,
            Part::Main => Self::Main,
        }
    }
}

/// Consecutive events of one activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::analysis) struct Run {
    /// Its first event.
    pub(in crate::analysis) start: u32,
    /// The first event after it.
    pub(in crate::analysis) end: u32,
    /// The activity.
    pub(in crate::analysis) act: Act,
    /// Who called the model; told apart for calls only.
    pub(in crate::analysis) caller: u32,
    /// Whether an optimizer's step is under way, maybe further out.
    pub(in crate::analysis) within_step: bool,
    /// The line of the step that called a closure; see [`Place`](super::Place).
    pub(super) closure_line: u32,
    /// The stack of its first event.
    pub(in crate::analysis) stack: StackId,
}

/// The activities of a timeline.
#[derive(Debug)]
pub(in crate::analysis) struct Acts {
    /// One for each event.
    each: Vec<Act>,
    /// The same, as runs; events that say nothing belong to the run before.
    pub(in crate::analysis) runs: Vec<Run>,
    /// Whether allocations were recorded with stacks.
    pub(in crate::analysis) has_stacks: bool,
}

impl Acts {
    /// Read the activities from the stacks of the events.
    pub(in crate::analysis) fn of(timeline: &Timeline, places: &Places) -> Self {
        let recorded = Recorded::of(timeline);
        let mut acts = Vec::with_capacity(timeline.events.len());
        let mut runs: Vec<Run> = Vec::new();
        for ix in timeline.events.indices() {
            let act = recorded.act(timeline, places, ix);
            acts.push(act);
            let end = ix.0 + 1;
            if act == Act::Nothing {
                continue;
            }
            let stack = timeline.events.stack(ix);
            let place = places.get(stack);
            let caller = if act == Act::Call { place.caller } else { 0 };
            let (within_step, closure_line) = (place.within_step, place.closure_line);
            match runs.last_mut() {
                Some(last)
                    if (last.act, last.caller, last.within_step, last.closure_line)
                        == (act, caller, within_step, closure_line) =>
                {
                    last.end = end;
                }
                _ => runs.push(Run { start: ix.0, end, act, caller, within_step, closure_line, stack }),
            }
        }
        Self { each: acts, runs, has_stacks: recorded.allocs }
    }

    /// The activity at an event.
    #[inline]
    pub(in crate::analysis) fn at(&self, event: u32) -> Act {
        self.each.get(event as usize).copied().unwrap_or(Act::Nothing)
    }
}

/// Which kinds of events were recorded with stacks.
#[derive(Debug, Clone, Copy)]
struct Recorded {
    allocs: bool,
    frees: bool,
}

impl Recorded {
    fn of(timeline: &Timeline) -> Self {
        let has = |action| {
            let with_stack = |&ix: &EventIx| {
                timeline.events.action(ix) == action && timeline.events.stack(ix) != StackId::EMPTY
            };
            timeline.events.indices().any(|ix| with_stack(&ix))
        };
        Self { allocs: has(Action::Alloc), frees: has(Action::FreeRequested) }
    }

    /// Without a stack, but in a recording with stacks: a thread that runs no Python, which is the
    /// autograd engine's.
    fn act(self, timeline: &Timeline, places: &Places, ix: EventIx) -> Act {
        let has_stacks = match timeline.events.action(ix) {
            Action::Alloc | Action::Oom => self.allocs,
            Action::FreeRequested => self.frees,
            _ => return Act::Nothing,
        };
        match Act::of(places.get(timeline.events.stack(ix)).part) {
            Act::Nothing if has_stacks => Act::Backward,
            act => act,
        }
    }
}
