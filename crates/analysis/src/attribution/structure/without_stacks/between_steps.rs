//! Recordings in which torch announced the optimizer's steps: the events between two steps are an
//! iteration, whatever they allocate.

use super::alignment::phases_after_last_step;
use super::between_passes::{OpenTail, PhaseWriter};
use super::flat_pass::phases_of_flat_pass;
use super::lifetimes_by_event::LifetimesByEvent;
use super::passes::{Pass, find_passes};
use super::step_intervals::{StepInterval, step_intervals};
use super::window::Window;
use crate::attribution::facts::Announced;
use crate::attribution::structure::iterations::Iterations;
use crate::attribution::structure::phase::{Phase, PhaseStart};
use crate::attribution::structure::phases::Phases;
use oomscope_model::{EventIx, Timeline};

/// Find phases and iterations between the steps that torch announced; `None` if it announced none, or nothing tells.
pub(in crate::attribution::structure) fn phases_between_steps(
    timeline: &Timeline,
    announced: &Announced,
) -> Option<Phases> {
    announced.within_trace().next()?;
    let lifetimes = LifetimesByEvent::of(timeline);
    let is_from_start = timeline.lifetimes.initial_count() == 0;
    let intervals = step_intervals(&lifetimes, announced, is_from_start);
    let windows: Vec<Window> = intervals.iter().map(|interval| interval.window).collect();
    let passes = find_passes(&lifetimes, &windows).unwrap_or_default();
    let mut walker = IntervalWalker {
        lifetimes: &lifetimes,
        intervals: &intervals,
        passes: &passes,
        writer: PhaseWriter::new(&lifetimes, passes.iter().all(|pass| pass.trains)),
        starts: Vec::new(),
        tail: None,
    };
    let first_end = intervals.first()?.window.to;
    let first_pass = passes.first().map_or(first_end, |pass| pass.data).min(first_end);
    walker.writer.write_before(first_pass, is_from_start);
    for at in 0..intervals.len() {
        walker.walk(at);
    }
    let unsure_from = walker.finish(timeline);
    let is_numbered = is_from_start && announced.is_complete && are_steps_even(&walker.starts, &intervals);
    let mut iterations = Iterations::from_starts(timeline, &walker.starts, is_numbered.then_some(0));
    iterations.note_steps(&announced.ends());
    iterations.unsure_from = unsure_from;
    Some(Phases { phases: walker.writer.phases, iterations, is_between_steps: true, ..Phases::default() })
}

/// Whether there are equally many steps from each start to the next, and no more after the last: where several
/// optimizers step in turn, some of their passes may be too small to be seen.
fn are_steps_even(starts: &[EventIx], intervals: &[StepInterval]) -> bool {
    let steps_before = |start: &EventIx| {
        intervals.partition_point(|interval| interval.step_end.is_some_and(|end| end <= start.0))
    };
    let counts: Vec<usize> = starts.iter().map(steps_before).collect();
    let mut between = counts.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let each = between.next().unwrap_or(1);
    let all = intervals.len().saturating_sub(1);
    let after_last = counts.last().map_or(0, |&count| all.saturating_sub(count));
    after_last <= each && between.all(|count| count == each)
}

/// Walks over the intervals, writes their phases and notes where iterations start.
struct IntervalWalker<'a> {
    lifetimes: &'a LifetimesByEvent<'a>,
    intervals: &'a [StepInterval],
    passes: &'a [Pass],
    writer: PhaseWriter<'a>,
    starts: Vec<EventIx>,
    /// The work that follows on the last pass.
    tail: Option<OpenTail>,
}

impl IntervalWalker<'_> {
    fn walk(&mut self, at: usize) {
        let Some(interval) = self.intervals.get(at) else { return };
        let next = self.intervals.get(at + 1);
        let passes = interval.passes(self.passes);
        for (index, pass) in passes.iter().enumerate() {
            let following = passes.get(index + 1).map(|next| next.data);
            let step_end = interval.step_end.filter(|_| following.is_none());
            // A pass lasts until the next one, or until a step that no pass leads to.
            let from_next = |next: &StepInterval| {
                next.passes(self.passes).first().map_or(next.window.to, |pass| pass.data)
            };
            let until = following.or_else(|| next.map(from_next)).unwrap_or(self.lifetimes.event_count());
            self.tail = self.writer.write_pass(pass, until, step_end.unwrap_or(0));
        }
        if let Some(end) = interval.step_end.filter(|_| passes.is_empty() && !interval.has_closure) {
            self.walk_without_peak(interval, end, next);
        }
        let begins = interval.first_alloc.filter(|_| interval.may_be_pass && interval.step_end.is_some());
        self.starts.extend(interval.trains_from(self.passes).or(begins).map(EventIx));
    }

    /// Walk over an interval that shows no rise and fall, and its step.
    fn walk_without_peak(&mut self, interval: &StepInterval, step_end: u32, next: Option<&StepInterval>) {
        if let Some(begins) = interval.first_alloc.filter(|_| interval.may_be_pass) {
            self.write(&phases_of_flat_pass(self.lifetimes, begins, interval.window.to));
        }
        // A step after the last event shows at that event.
        let last = self.lifetimes.event_count().saturating_sub(1);
        self.writer.enter(interval.window.to.min(last), Phase::Optimizer);
        if let Some(begins) = next.and_then(|next| next.first_alloc).filter(|&begins| step_end <= begins) {
            self.writer.enter(begins, Phase::Unknown);
            self.tail = Some(OpenTail { start: begins, phase: Phase::Unknown });
        }
    }

    fn write(&mut self, phases: &[PhaseStart]) {
        for start in phases {
            self.writer.enter(start.event.0, start.phase);
        }
    }

    /// Read the work that is under way at the end. Returns the event from which on a further iteration may have begun.
    fn finish(&mut self, timeline: &Timeline) -> Option<u32> {
        let last = self.intervals.last()?;
        let begins = last.first_alloc?;
        if self.writer.phases.last().is_none_or(|last| last.phase == Phase::Unknown)
            && let Some(found) = phases_after_last_step(
                timeline,
                self.lifetimes,
                &self.writer.phases,
                self.intervals,
                self.passes,
                begins,
            )
        {
            self.write(&found);
            self.tail = Some(tail_of(&found, begins));
        }
        if last.trains_from(self.passes).is_some() {
            return None;
        }
        let tail = self.tail?;
        match tail.phase {
            Phase::Forward | Phase::Backward => self.starts.push(EventIx(tail.start)),
            Phase::Eval => {}
            _ => return Some(tail.start),
        }
        None
    }
}

/// The tail that phases after the last step are.
fn tail_of(phases: &[PhaseStart], begins: u32) -> OpenTail {
    let is_of_pass =
        |start: &&PhaseStart| matches!(start.phase, Phase::Data | Phase::Forward | Phase::Backward);
    let start = phases.iter().find(is_of_pass).map_or(begins, |start| start.event.0);
    let phase = phases.last().map_or(Phase::Unknown, |last| last.phase);
    // Before its step, a pass is not over.
    let phase = if phase == Phase::Optimizer { Phase::Backward } else { phase };
    OpenTail { start, phase }
}
