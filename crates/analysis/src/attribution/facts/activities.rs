//! The activity at each event: what the program was doing, as far as the event's stack shows it.

use super::frees::free_event;
use super::stack_facts::{CodePart, StackFacts};
use super::stack_traits::StackTrait;
use oomscope_model::{Action, AllocId, EventIx, Moment, StackId, Timeline};

/// An activity of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Activity {
    /// The event shows none.
    Nothing,
    /// Parameters are made or loaded, or libraries make buffers: this may happen at any time.
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

impl Activity {
    fn in_part(part: CodePart) -> Self {
        match part {
            CodePart::Nothing => Self::Nothing,
            CodePart::Load
            | CodePart::Restore
            | CodePart::FlatBuffer
            | CodePart::MainParameters
            | CodePart::Comm
            | CodePart::Workspace => Self::Aside,
            CodePart::Call => Self::Call,
            CodePart::Backward | CodePart::Recompute => Self::Backward,
            CodePart::State | CodePart::Foreach | CodePart::Step => Self::Step,
            CodePart::ZeroGrad | CodePart::GradientCopy | CodePart::BetweenSteps => Self::Gradients,
            CodePart::Data => Self::Data,
            CodePart::Main => Self::Main,
        }
    }
}

/// Consecutive events of one activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    /// Its first event.
    pub(crate) start: u32,
    /// The first event after it.
    pub(crate) end: u32,
    /// The activity.
    pub(crate) activity: Activity,
    /// Who called the model; told apart for calls only.
    pub(crate) caller: u32,
    /// Whether an optimizer's step is under way, maybe further out.
    pub(crate) within_step: bool,
    /// The line of the step that called a closure; see [`StackFacts`](super::StackFacts).
    pub(super) closure_line: u32,
    /// The stack of its first event.
    pub(crate) stack: StackId,
}

impl Run {
    /// The allocations that are made in it, each with its event.
    pub(crate) fn allocations(&self, timeline: &Timeline) -> impl Iterator<Item = (AllocId, EventIx)> {
        made_between(timeline, self.start, self.end)
    }

    /// Whether another run that follows directly is a part of this one.
    fn continues_as(&self, next: &Self) -> bool {
        let key = |run: &Self| (run.activity, run.caller, run.within_step, run.closure_line);
        key(self) == key(next)
    }
}

/// The allocations that are made from an event until before another, each with its event.
pub(super) fn made_between(
    timeline: &Timeline,
    from: u32,
    to: u32,
) -> impl Iterator<Item = (AllocId, EventIx)> {
    let lifetimes = &timeline.lifetimes;
    let made = lifetimes.started_between(Moment(from), Moment(to));
    made.filter_map(|id| Some((id, lifetimes.start(id).event()?)))
}

/// The activities of a timeline.
#[derive(Debug)]
pub(crate) struct Activities {
    by_event: Vec<Activity>,
    /// The activities as runs. Events that show none belong to the run before.
    pub(crate) runs: Vec<Run>,
    /// Whether allocations were recorded with stacks.
    pub(crate) has_stacks: bool,
}

impl Activities {
    /// Read the activities from the stacks of the events.
    pub(super) fn of(timeline: &Timeline, facts_of: impl Fn(StackId) -> StackFacts) -> Self {
        let recorded = RecordedStacks::of(timeline);
        let mut by_event = Vec::with_capacity(timeline.events.len());
        let mut runs: Vec<Run> = Vec::new();
        for ix in timeline.events.indices() {
            let activity = recorded.activity_at(timeline, &facts_of, ix);
            by_event.push(activity);
            if activity == Activity::Nothing {
                continue;
            }
            let stack = timeline.events.stack(ix);
            let facts = facts_of(stack);
            let run = Run {
                start: ix.0,
                end: ix.0 + 1,
                activity,
                caller: if activity == Activity::Call { facts.caller } else { 0 },
                within_step: facts.has(StackTrait::WithinStep),
                closure_line: facts.closure_line,
                stack,
            };
            match runs.last_mut() {
                Some(last) if last.continues_as(&run) => last.end = run.end,
                _ => runs.push(run),
            }
        }
        Self { by_event, runs, has_stacks: recorded.of_allocs }
    }

    /// The first event of each run of an activity.
    pub(crate) fn starts_of(&self, wanted: Activity) -> Vec<u32> {
        self.runs.iter().filter(|run| run.activity == wanted).map(|run| run.start).collect()
    }

    /// The activity at an event.
    #[inline]
    pub(crate) fn at(&self, event: u32) -> Activity {
        self.by_event.get(event as usize).copied().unwrap_or(Activity::Nothing)
    }
}

/// Which kinds of events were recorded with stacks of their own. With `context="alloc"`, torch gives each free the stack of the
/// allocation.
#[derive(Debug, Clone, Copy)]
struct RecordedStacks {
    of_allocs: bool,
    of_frees: bool,
}

impl RecordedStacks {
    fn of(timeline: &Timeline) -> Self {
        let events = &timeline.events;
        let is_alloc_with_stack =
            |&ix: &EventIx| events.action(ix) == Action::Alloc && events.stack(ix) != StackId::EMPTY;
        let frees_itself = |id: AllocId| {
            let made = timeline.lifetimes.start(id).event().filter(|&ix| events.action(ix) == Action::Alloc);
            let freed = free_event(&timeline.lifetimes, id).map(|ix| events.stack(ix));
            freed.is_some_and(|stack| {
                stack != StackId::EMPTY && made.is_some_and(|ix| events.stack(ix) != stack)
            })
        };
        Self {
            of_allocs: events.indices().any(|ix| is_alloc_with_stack(&ix)),
            of_frees: timeline.ids().any(frees_itself),
        }
    }

    /// An event without a stack in a recording with stacks belongs to a thread that runs no Python, which is the autograd
    /// engine's.
    fn activity_at(
        self,
        timeline: &Timeline,
        facts_of: impl Fn(StackId) -> StackFacts,
        ix: EventIx,
    ) -> Activity {
        let are_recorded = match timeline.events.action(ix) {
            Action::Alloc | Action::Oom => self.of_allocs,
            Action::FreeRequested if self.of_frees => true,
            _ => return Activity::Nothing,
        };
        match Activity::in_part(facts_of(timeline.events.stack(ix)).part) {
            Activity::Nothing if are_recorded => Activity::Backward,
            activity => activity,
        }
    }
}
