//! What lies between two passes of a recording without stacks: the optimizer's step, evaluations, and
//! at the end a pass that is not over.

use super::humps::{Hump, SCALAR_BYTES};
use super::tape::{Mark, Tape};
use super::{Phase, PhaseStart};
use crate::model::EventIx;
use foldhash::HashMap;

/// Blocks up to this size are made by optimizers for numbers of their own.
const SMALL_BYTES: i64 = 4096;

/// The same of what is gone within so many events.
const BUFFER_BYTES: i64 = 64 << 10;
const BRIEF_EVENTS: u32 = 8;

/// Data are made within so many events before the call.
const DATA_EVENTS: u32 = 64;

/// So many allocations tell whether a call goes the way of a training forward.
const MIN_CALL: usize = 16;

/// So many of them must stay for a backward.
const MIN_KEPT: usize = 8;

/// A backward makes at least so many blocks as large as parameters.
const MIN_GRADIENTS: usize = 3;

/// Something that is under way when the recording ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    /// Its first event.
    pub(super) start: u32,
    /// What it is at the end.
    pub(super) phase: Phase,
}

/// Data are loaded.
struct Data {
    /// Where the call begins that follows, if one does.
    call: Option<u32>,
}

/// Writes phases in order.
pub(super) struct Writer<'a> {
    tape: &'a Tape<'a>,
    pub(super) phases: Vec<PhaseStart>,
    /// Whether every graph that is kept is for a backward.
    all_train: bool,
    /// What a training forward allocates, from the last one.
    forward: Vec<u32>,
    data_sizes: Vec<i64>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(tape: &'a Tape<'a>, all_train: bool) -> Self {
        Self { tape, phases: Vec::new(), all_train, forward: Vec::new(), data_sizes: Vec::new() }
    }

    pub(super) fn enter(&mut self, event: u32, phase: Phase) {
        while self.phases.last().is_some_and(|last| event <= last.event.0) {
            self.phases.pop();
        }
        if self.phases.last().is_none_or(|last| last.phase != phase) {
            self.phases.push(PhaseStart { event: EventIx(event), phase });
        }
    }

    /// What comes before the first pass.
    pub(super) fn before(&mut self, end: u32, is_from_start: bool) {
        self.enter(0, if is_from_start { Phase::Init } else { Phase::Unknown });
        if let Some(other) = (0..end).find(|&event| !self.is_of_step(event)) {
            self.enter(other, Phase::Unknown);
        }
    }

    /// A pass, and what follows until the next one, or until the recording ends. Up to `step_end`, it is surely
    /// the optimizer's.
    pub(super) fn pass(&mut self, hump: &Hump, next: u32, step_end: u32) -> Option<Tail> {
        if !hump.trains {
            self.enter(hump.data, Phase::Unknown);
            return (next == self.tape.len()).then_some(Tail { start: hump.data, phase: Phase::Unknown });
        }
        if !hump.is_over {
            self.enter(hump.data, Phase::Unknown);
            self.enter(hump.backward, Phase::Backward);
            return Some(Tail { start: hump.data, phase: Phase::Backward });
        }
        self.data_sizes.clone_from(&hump.data_sizes);
        self.forward = self.tape.births(hump.forward, hump.backward).collect();
        if hump.data < hump.forward {
            self.enter(hump.data, Phase::Data);
        }
        self.enter(hump.forward, Phase::Forward);
        self.enter(hump.backward, Phase::Backward);
        if next <= hump.end {
            return None;
        }
        self.enter(hump.end, Phase::Optimizer);
        // Once gradients are dropped, the step is over; what is made then is for something else.
        let dropped = hump.gradients_gone.unwrap_or(next);
        let is_new =
            |event: u32| matches!(self.tape.at(event), Mark::Birth(id) if SCALAR_BYTES < self.tape.size(id));
        let other = (hump.end.max(step_end)..next)
            .find(|&event| !self.is_of_step(event) || (dropped < event && is_new(event)))?;
        let tail = self.calls(other, next);
        (next == self.tape.len()).then_some(tail)
    }

    /// Whether an event may be an optimizer's: it works on blocks as large as parameters, and on
    /// numbers.
    fn is_of_step(&self, event: u32) -> bool {
        let Mark::Birth(id) = self.tape.at(event) else { return true };
        let size = self.tape.size(id);
        let is_brief = self.tape.death(id).saturating_sub(event) <= BRIEF_EVENTS;
        let is_plain =
            self.tape.is_like_parameter(id) || size <= SMALL_BYTES || (is_brief && size <= BUFFER_BYTES);
        is_plain && self.data_at(event).is_none()
    }

    /// Whether data are loaded from an event on.
    fn data_at(&self, event: u32) -> Option<Data> {
        let Mark::Birth(id) = self.tape.at(event) else { return None };
        if self.data_sizes.first() != Some(&self.tape.size(id)) {
            return None;
        }
        let births: Vec<u32> = self
            .tape
            .births(event, event.saturating_add(DATA_EVENTS))
            .take(self.data_sizes.len() + 1)
            .collect();
        let wanted =
            self.data_sizes.iter().copied().chain(self.forward.first().map(|&id| self.tape.size(id)));
        if !births.iter().map(|&id| self.tape.size(id)).zip(wanted).all(|(size, wanted)| size == wanted) {
            return None;
        }
        match births.get(self.data_sizes.len()) {
            Some(&call) => Some(Data { call: Some(self.tape.birth(call)) }),
            // Gradients and states may be as large.
            None => {
                (!births.iter().any(|&id| self.tape.is_like_parameter(id))).then_some(Data { call: None })
            }
        }
    }

    /// Data and calls, one after the other, as long as they read like those of a training forward.
    fn calls(&mut self, from: u32, to: u32) -> Tail {
        let mut tail = Tail { start: from, phase: Phase::Unknown };
        let mut at = from;
        while at < to {
            let Some(data) = self.data_at(at) else {
                self.enter(at, Phase::Unknown);
                return Tail { start: at, phase: Phase::Unknown };
            };
            self.enter(at, Phase::Data);
            let Some(start) = data.call.filter(|&start| start < to) else {
                return Tail { start: at, phase: Phase::Data };
            };
            let (phase, end) = self.call(start, to);
            self.enter(start, phase);
            tail = Tail { start: at, phase };
            if phase != Phase::Eval {
                break;
            }
            at = end;
        }
        tail
    }

    /// What a call is, and where the next thing begins.
    fn call(&self, start: u32, to: u32) -> (Phase, u32) {
        let tape = self.tape;
        let is_next = |&event: &u32| self.data_at(event).is_some();
        let to_next = (start.saturating_add(1)..to).find(is_next).unwrap_or(to);
        let mine: Vec<u32> = tape.births(start, to_next).take(self.forward.len().saturating_add(1)).collect();
        let next = mine.get(self.forward.len()).map_or(to_next, |&id| tape.birth(id));
        let length = mine.len().min(self.forward.len());
        let (mine, like) = (mine.get(..length), self.forward.get(..length));
        let (Some(mine), Some(like)) = (mine, like) else { return (Phase::Unknown, to) };
        if length < MIN_CALL || !are_alike(tape, mine, like) {
            return (Phase::Unknown, to);
        }
        let (kept, wanted) = (kept(tape, mine), kept(tape, like));
        if wanted < MIN_KEPT {
            (Phase::Unknown, to)
        } else if kept <= wanted / 2 {
            (Phase::Eval, next)
        } else if self.all_train && to == tape.len() && wanted - wanted / 5 <= kept {
            if next == to { (Phase::Forward, to) } else { (self.backward(mine, next), to) }
        } else {
            (Phase::Unknown, to)
        }
    }

    /// After a whole forward: whether its activations are being given back while gradients are made.
    fn backward(&self, forward: &[u32], from: u32) -> Phase {
        let is_gradient =
            |&event: &u32| matches!(self.tape.at(event), Mark::Birth(id) if self.tape.is_like_parameter(id));
        let gradients = (from..self.tape.len()).filter(is_gradient).take(MIN_GRADIENTS).count();
        let held = |until: u32| forward.iter().filter(|&&id| until <= self.tape.death(id)).count();
        let is_falling = held(self.tape.len()) < held(from) - held(from) / 4;
        if gradients == MIN_GRADIENTS && is_falling { Phase::Backward } else { Phase::Unknown }
    }
}

/// Whether nearly all are as large as those of the other list.
fn are_alike(tape: &Tape<'_>, some: &[u32], others: &[u32]) -> bool {
    let mut sizes: HashMap<i64, usize> = HashMap::default();
    for &id in others {
        *sizes.entry(tape.size(id)).or_default() += 1;
    }
    let mut is_there = |id: u32| match sizes.get_mut(&tape.size(id)) {
        Some(left) if 0 < *left => {
            *left -= 1;
            true
        }
        _ => false,
    };
    let same = some.iter().filter(|&&id| is_there(id)).count();
    some.len() - some.len() / 10 <= same
}

/// How many of the allocations are there when the last of them is made.
fn kept(tape: &Tape<'_>, ids: &[u32]) -> usize {
    let end = ids.last().map_or(0, |&id| tape.birth(id));
    ids.iter().filter(|&&id| end < tape.death(id)).count()
}
