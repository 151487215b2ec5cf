//! Iterations and phases: how a recording is structured in time.
//!
//! A profiler's steps are iterations as it numbers them, and steps that the program attached to its
//! events are next. Else an iteration ends with an optimizer step and starts with the next training forward, or with the
//! loading of its data; evaluation between counts to the one before. Without optimizer steps, each
//! call of a model is an iteration. After a forward the phase stays `forward` until something else
//! begins, so it covers the loss; after a backward it is `optimizer`, until data or a forward come.

mod annotated;
mod first_step;
mod iterations;
mod live_memory;
#[cfg(test)]
mod live_memory_tests;
mod numbering;
mod phase;
mod position;
mod stackless;
mod starts;
mod told;
mod walk;

pub use iterations::{Iteration, Iterations};
pub(in crate::analysis) use live_memory::LiveMemory;
pub use phase::{Phase, PhaseBasis};
pub use position::Position;

use super::facts::{Announced, Facts};
use crate::model::{EventIx, Moment, Snapshot, Timeline};
use told::Told;

/// A phase from its first event on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseStart {
    /// The first event.
    pub event: EventIx,
    /// The phase, until the next one starts.
    pub phase: Phase,
}

/// The phase that an event lies in.
fn start_at(phases: &[PhaseStart], event: u32) -> Option<&PhaseStart> {
    let after = phases.partition_point(|start| start.event.0 <= event);
    after.checked_sub(1).and_then(|at| phases.get(at))
}

/// A call of a model from outside of any model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelCall {
    /// Its first event.
    pub event: EventIx,
    /// Whether its activations are for a backward pass.
    pub trains: bool,
}

/// Iterations and phases of one device.
#[derive(Debug, Default)]
pub struct Phases {
    /// In order; the first starts with the first event.
    pub phases: Vec<PhaseStart>,
    /// The iterations.
    pub iterations: Iterations,
    /// Calls of models, in order.
    pub calls: Vec<ModelCall>,
    /// How many optimizer steps torch announced before the first event.
    pub steps_before: usize,
    /// Whether the phases are read from sizes and lifetimes between announced steps rather than from stacks.
    is_between_steps: bool,
    /// Whether torch announced the steps within the trace.
    steps_are_announced: bool,
    /// Events whose phase the program said.
    told: Vec<[u32; 2]>,
    /// After the last event, judging by what is live; asked only where no event tells.
    at_end: Option<Phase>,
    /// Number of events.
    events: u32,
}

impl Phases {
    /// What facts alone tell; what is live tells more: see [`Attribution`](super::Attribution).
    pub(in crate::analysis) fn from_flow(
        snapshot: &Snapshot,
        timeline: &Timeline,
        facts: &Facts,
        announced: &Announced,
    ) -> Self {
        let flow = facts.flow(timeline);
        let told = Told::of(snapshot, timeline);
        let steps = annotated::starts(snapshot, timeline)
            .or_else(|| told.as_ref().and_then(|told| told.starts(timeline)));
        let is_bare = !flow.acts.has_stacks && 0 <= timeline.device.0;
        let found = if is_bare { stackless::find(timeline, announced) } else { None };
        let mut out = match found {
            Some(found) => Self::of_steps(timeline, found, &announced.ends()),
            None => Self::of_walk(snapshot, timeline, facts, announced),
        };
        out.steps_are_announced = announced.within_trace().next().is_some();
        if let Some((starts, first)) = steps {
            out.iterations = Iterations::build(timeline, &starts, Some(first));
        }
        if let Some(told) = told.filter(|_| !flow.acts.has_stacks) {
            out.told = told.put_into(timeline, &mut out.phases);
        }
        out
    }

    fn of_steps(timeline: &Timeline, found: stackless::Found, steps: &[u32]) -> Self {
        let is_numbered = timeline.lifetimes.initial_count() == 0 && found.is_counted;
        let mut iterations = Iterations::build(timeline, &found.starts, is_numbered.then_some(0));
        iterations.count_steps(steps);
        iterations.unsure_from = found.unsure_from;
        let events = timeline.events.len() as u32;
        Self { phases: found.phases, iterations, is_between_steps: true, events, ..Self::default() }
    }

    fn of_walk(snapshot: &Snapshot, timeline: &Timeline, facts: &Facts, announced: &Announced) -> Self {
        let flow = facts.flow(timeline);
        let walk = walk::walk(timeline, &facts.places, flow);
        let starts = starts::starts(snapshot, timeline, facts, &walk, announced);
        let is_numbered = timeline.lifetimes.initial_count() == 0;
        let mut iterations = Iterations::build(timeline, &starts, is_numbered.then_some(0));
        iterations.count_steps(&flow.steps.seen);
        let call = |begin: &walk::Begin| ModelCall { event: EventIx(begin.event), trains: begin.trains };
        let calls = walk.begins.iter().map(call).collect();
        let events = timeline.events.len() as u32;
        Self { phases: walk.phases, iterations, calls, events, ..Self::default() }
    }

    /// Add what the memory that is live at the end tells, where no event does.
    pub(in crate::analysis) fn look_at_the_end(&mut self, live: impl FnOnce() -> Option<Phase>) {
        if self.by_events(Moment(self.events)) == Phase::Unknown {
            self.at_end = live();
        }
    }

    /// Whether torch announced the optimizer's steps within the trace.
    pub fn has_announced_steps(&self) -> bool {
        self.steps_are_announced
    }

    fn by_events(&self, moment: Moment) -> Phase {
        self.start_before(moment).map_or(Phase::Unknown, |start| start.phase)
    }

    fn start_before(&self, moment: Moment) -> Option<&PhaseStart> {
        start_at(&self.phases, moment.event().map_or(0, |event| event.0))
    }

    /// The first event of the backward that a moment lies in; `None` in other phases.
    pub fn backward_at(&self, moment: Moment) -> Option<EventIx> {
        self.start_before(moment).filter(|start| start.phase == Phase::Backward).map(|start| start.event)
    }

    /// Say nothing: pinned memory of the host holds batches, which do not show what a device is doing.
    pub(in crate::analysis) fn forget(&mut self) {
        self.phases = vec![PhaseStart { event: EventIx(0), phase: Phase::Unknown }];
        self.iterations = Iterations::default();
        self.at_end = None;
        self.steps_before = 0;
    }

    /// The phase that the event before a moment belongs to. Of the last moment, where no event tells,
    /// what the memory that is live then shows.
    pub fn phase_at(&self, moment: Moment) -> Phase {
        self.seen_at(moment).0
    }

    /// What the phase at a moment is known by; `None` where it is unknown.
    pub fn basis_at(&self, moment: Moment) -> Option<PhaseBasis> {
        self.seen_at(moment).1
    }

    fn seen_at(&self, moment: Moment) -> (Phase, Option<PhaseBasis>) {
        let event = moment.event().map_or(0, |event| event.0);
        let after = self.told.partition_point(|range| range[0] <= event);
        let told = after.checked_sub(1).and_then(|at| self.told.get(at)).filter(|range| event < range[1]);
        let basis = match told {
            Some(_) => PhaseBasis::Metadata,
            None if self.is_between_steps => PhaseBasis::Announced,
            None => PhaseBasis::Events,
        };
        match (self.by_events(moment), self.at_end) {
            (Phase::Unknown, Some(phase)) if self.events <= moment.0 => (phase, Some(PhaseBasis::LiveMemory)),
            (Phase::Unknown, _) => (Phase::Unknown, None),
            (phase, _) => (phase, Some(basis)),
        }
    }

    /// The number of the iteration that the event before a moment belongs to, from 0. `None` before
    /// the first, and where the recording starts too late to number them.
    pub fn iteration_at(&self, moment: Moment) -> Option<u32> {
        self.iterations.number_at(moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::attribution::facts::fixture::{BACKWARD, DATA, FORWARD, LOAD, Program, train};
    use crate::analysis::{Attribution, UserRules};

    fn phases(snapshot: &Snapshot) -> Phases {
        Attribution::of(snapshot, &snapshot.timelines[0], &UserRules::default()).phases
    }

    fn keys(phases: &Phases) -> Vec<&'static str> {
        phases.phases.iter().map(|start| start.phase.key()).collect()
    }

    #[test]
    fn a_training_goes_round_in_phases() {
        let mut program = Program::default();
        train(&mut program, 3, None);
        let snapshot = program.finish();
        let found = phases(&snapshot);
        let round = ["data", "forward", "backward", "optimizer", "eval"];
        let expected: Vec<&str> =
            ["init"].into_iter().chain(round).chain(round).chain(round[..3].iter().copied()).collect();
        assert_eq!(keys(&found), expected);
        assert_eq!((found.iterations.list.len(), found.iterations.first_number), (3, Some(0)));
        let end = Moment(snapshot.timelines[0].events.len() as u32);
        assert_eq!((found.phase_at(end), found.iteration_at(end)), (Phase::Backward, Some(2)));
        assert_eq!((found.phase_at(Moment(2)), found.iteration_at(Moment(2))), (Phase::Init, None));
        let starts: Vec<EventIx> = found.iterations.list.iter().map(|iteration| iteration.start).collect();
        let data = found.phases.iter().filter(|start| start.phase == Phase::Data).map(|start| start.event);
        assert_eq!(starts, data.collect::<Vec<_>>());
    }

    #[test]
    fn growth_and_peaks_are_those_of_the_curve() {
        let mut program = Program::default();
        train(&mut program, 3, None);
        let snapshot = program.finish();
        let timeline = &snapshot.timelines[0];
        for iteration in &phases(&snapshot).iterations.list {
            let range = iteration.start.0 + 1..=iteration.end.0;
            let most = range.map(|moment| timeline.active.at(Moment(moment))).max();
            assert_eq!(Some(iteration.peak_bytes), most);
            assert_eq!(timeline.active.at(iteration.peak), iteration.peak_bytes);
            let change = timeline.active.at(iteration.end) - timeline.active.at(Moment(iteration.start.0));
            assert_eq!(iteration.growth_bytes(), change);
        }
    }

    #[test]
    fn a_late_recording_numbers_nothing() {
        let mut program = Program::default();
        train(&mut program, 4, Some(2));
        let found = phases(&program.finish());
        assert_eq!((found.iterations.list.len(), found.iterations.first_number), (2, None));
    }

    #[test]
    fn a_late_recording_counts_from_its_start_and_says_what_it_can() {
        let mut program = Program::default();
        train(&mut program, 4, Some(2));
        let snapshot = program.finish();
        let timeline = &snapshot.timelines[0];
        let phases = Attribution::of(&snapshot, timeline, &UserRules::default()).phases;
        let position = phases.position_at(Moment(timeline.events.len() as u32));
        assert_eq!((position.iteration, position.iteration_of_recording), (None, Some(1)));
        // Two states for each parameter were there: the first of the recording was not the first of all.
        assert_eq!(position.iteration_at_least, Some(2));
        assert_eq!(position.basis, Some(PhaseBasis::Events));
    }

    /// What the number of the iteration at the end is at least, and its number within the recording.
    fn bound(program: Program) -> (Option<u32>, Option<u32>) {
        let snapshot = program.finish();
        let timeline = &snapshot.timelines[0];
        let phases = Attribution::of(&snapshot, timeline, &UserRules::default()).phases;
        let position = phases.position_at(Moment(timeline.events.len() as u32));
        assert_eq!(position.iteration, None);
        (position.iteration_at_least, position.iteration_of_recording)
    }

    #[test]
    fn iterations_without_a_step_raise_no_bound() {
        let (mut program, generate) = (Program::default(), "/home/me/train.py generate");
        train(&mut program, 3, None);
        program.forget_events();
        for _ in 0..5 {
            let data = program.alloc(4096, DATA);
            let frames = [&FORWARD[..2], &[generate, FORWARD[2]]].concat();
            let result = program.alloc(20 << 20, &frames);
            program.free(result, &frames);
            program.free(data, DATA);
        }
        // State that steps had left shows that there was one.
        assert_eq!(bound(program), (Some(1), Some(4)));
        // Micro-batches without any step.
        let mut program = Program::default();
        program.alloc(512, LOAD);
        program.start_late();
        for _ in 0..4 {
            let data = program.alloc(4096, DATA);
            let kept: Vec<u64> = (0..12).map(|_| program.alloc(30 << 20, FORWARD)).collect();
            for activation in kept {
                program.free(activation, BACKWARD);
            }
            program.free(data, DATA);
        }
        assert_eq!(bound(program), (None, Some(3)));
    }
}
