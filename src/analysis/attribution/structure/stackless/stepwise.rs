//! Recordings in which torch announced the optimizer's steps: what lies between two steps is an
//! iteration, whatever it allocates.

use super::humps::{Hump, humps};
use super::rounds::{Round, rounds};
use super::tape::Tape;
use super::valley::{Tail, Writer};
use super::window::Window;
use super::{Found, Phase, PhaseStart, plain_pass, tail};
use crate::analysis::attribution::facts::Announced;
use crate::model::{EventIx, Timeline};

pub(super) fn find(timeline: &Timeline, announced: &Announced) -> Option<Found> {
    let tape = Tape::of(timeline);
    let is_from_start = timeline.lifetimes.initial_count() == 0;
    let rounds = rounds(&tape, announced, is_from_start);
    let windows: Vec<Window> = rounds.iter().map(|round| round.window).collect();
    let humps = humps(&tape, &windows).unwrap_or_default();
    let writer = Writer::new(&tape, humps.iter().all(|hump| hump.trains));
    let mut walk =
        Walk { tape: &tape, rounds: &rounds, humps: &humps, writer, starts: Vec::new(), tail: None };
    let first = rounds.first()?.window.to;
    walk.writer.before(humps.first().map_or(first, |hump| hump.data).min(first), is_from_start);
    for at in 0..rounds.len() {
        walk.round(at);
    }
    let unsure_from = walk.end(timeline);
    let is_counted = announced.is_complete && is_even(&walk.starts, &rounds);
    Some(Found { phases: walk.writer.phases, starts: walk.starts, is_counted, unsure_from })
}

/// Whether there are equally many steps from each start to the next, and no more after the last: where several
/// optimizers step in turn, some of their passes may be too small to be seen.
fn is_even(starts: &[EventIx], rounds: &[Round]) -> bool {
    let before =
        |start: &EventIx| rounds.partition_point(|round| round.step_end.is_some_and(|end| end <= start.0));
    let counts: Vec<usize> = starts.iter().map(before).collect();
    let mut between = counts.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let each = between.next().unwrap_or(1);
    let last = counts.last().map_or(0, |&count| rounds.len().saturating_sub(1).saturating_sub(count));
    last <= each && between.all(|count| count == each)
}

/// Follows the rounds.
struct Walk<'a> {
    tape: &'a Tape<'a>,
    rounds: &'a [Round],
    humps: &'a [Hump],
    writer: Writer<'a>,
    starts: Vec<EventIx>,
    /// What follows on the last pass.
    tail: Option<Tail>,
}

impl Walk<'_> {
    fn round(&mut self, at: usize) {
        let Some(round) = self.rounds.get(at) else { return };
        let next = self.rounds.get(at + 1);
        let passes = round.passes(self.humps);
        for (place, hump) in passes.iter().enumerate() {
            let following = passes.get(place + 1).map(|next| next.data);
            let step_end = round.step_end.filter(|_| following.is_none());
            // The next pass, or where a step follows that no pass leads to.
            let from_next =
                |next: &Round| next.passes(self.humps).first().map_or(next.window.to, |hump| hump.data);
            let until = following.or_else(|| next.map(from_next));
            self.tail = self.writer.pass(hump, until.unwrap_or(self.tape.len()), step_end.unwrap_or(0));
        }
        if let Some(end) = round.step_end.filter(|_| passes.is_empty() && !round.is_closure) {
            self.plain_round(round, end, next);
        }
        let begins = round.begins.filter(|_| round.is_pass && round.step_end.is_some());
        self.starts.extend(round.trained_from(self.humps).or(begins).map(EventIx));
    }

    /// A round that shows no rise and fall, and its step.
    fn plain_round(&mut self, round: &Round, step_end: u32, next: Option<&Round>) {
        let begins = round.begins.filter(|_| round.is_pass);
        let phases = begins.map(|begins| plain_pass::phases(self.tape, begins, round.window.to));
        for start in phases.unwrap_or_default() {
            self.writer.enter(start.event.0, start.phase);
        }
        // A step after the last event is seen at that event.
        self.writer.enter(round.window.to.min(self.tape.len().saturating_sub(1)), Phase::Optimizer);
        if let Some(begins) = next.and_then(|next| next.begins).filter(|&begins| step_end <= begins) {
            self.writer.enter(begins, Phase::Unknown);
            self.tail = Some(Tail { start: begins, phase: Phase::Unknown });
        }
    }

    /// What is under way at the end. Returns from where on a further iteration may have begun.
    fn end(&mut self, timeline: &Timeline) -> Option<u32> {
        let last = self.rounds.last()?;
        let begins = last.begins?;
        if self.writer.phases.last().is_none_or(|last| last.phase == Phase::Unknown)
            && let Some(found) =
                tail::phases(timeline, self.tape, &self.writer.phases, self.rounds, self.humps, begins)
        {
            self.follow(begins, &found);
        }
        if last.trained_from(self.humps).is_some() {
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

    fn follow(&mut self, begins: u32, found: &[PhaseStart]) {
        for start in found {
            self.writer.enter(start.event.0, start.phase);
        }
        let is_of_pass =
            |start: &&PhaseStart| matches!(start.phase, Phase::Data | Phase::Forward | Phase::Backward);
        let start = found.iter().find(is_of_pass).map_or(begins, |start| start.event.0);
        let phase = found.last().map_or(Phase::Unknown, |last| last.phase);
        // Before the step, a pass is not over.
        let phase = if phase == Phase::Optimizer { Phase::Backward } else { phase };
        self.tail = Some(Tail { start, phase });
    }
}
