//! The phases between two passes of a recording without stacks: the optimizer's step, evaluations, and
//! at the end a pass that is not over.

use super::lifetimes_by_event::LifetimesByEvent;
use super::passes::Pass;
use crate::attribution::structure::phase::{Phase, PhaseStart};
use crate::attribution::thresholds::{
    MIN_AGREEING, MIN_BLOCKS_OF_MODEL, MIN_TELLING_BLOCKS, MISSING_PART, NEARBY_EVENTS, NUMBERS_BYTES,
    SIMILAR_PART, is_nearly_all,
};
use foldhash::HashMap;
use oomscope_model::{AllocId, Bytes, EventIx};

/// Optimizers make blocks up to this size, in bytes, as scratch memory.
pub(super) const SCRATCH_BYTES: Bytes = Bytes(64 << 10);

/// The parts of a batch are made within this many events.
const BATCH_EVENTS: u32 = 64;

/// The work that is under way when the recording ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenTail {
    /// Its first event.
    pub(super) start: u32,
    /// The phase at the end.
    pub(super) phase: Phase,
}

/// The loading of a batch.
struct DataLoad {
    /// The first event of the call that follows, if one does.
    call: Option<u32>,
}

/// Writes phases in order.
pub(super) struct PhaseWriter<'a> {
    lifetimes: &'a LifetimesByEvent<'a>,
    pub(super) phases: Vec<PhaseStart>,
    /// Whether every pass that keeps a graph trains.
    all_train: bool,
    /// The allocations of the last training forward.
    forward: Vec<AllocId>,
    data_sizes: Vec<Bytes>,
}

impl<'a> PhaseWriter<'a> {
    pub(super) fn new(lifetimes: &'a LifetimesByEvent<'a>, all_train: bool) -> Self {
        Self { lifetimes, phases: Vec::new(), all_train, forward: Vec::new(), data_sizes: Vec::new() }
    }

    /// Enter a phase at an event. Phases that were written for later events are dropped.
    pub(super) fn enter(&mut self, event: u32, phase: Phase) {
        while self.phases.last().is_some_and(|last| event <= last.event.0) {
            self.phases.pop();
        }
        if self.phases.last().is_none_or(|last| last.phase != phase) {
            self.phases.push(PhaseStart { event: EventIx(event), phase });
        }
    }

    /// Write the phases before the first pass.
    pub(super) fn write_before(&mut self, end: u32, is_from_start: bool) {
        self.enter(0, if is_from_start { Phase::Init } else { Phase::Unknown });
        if let Some(other) = (0..end).find(|&event| !self.may_be_optimizer(event)) {
            self.enter(other, Phase::Unknown);
        }
    }

    /// Write a pass, and what follows until the next one, or until the recording ends. Up to `step_end`, it is surely
    /// the optimizer's.
    pub(super) fn write_pass(&mut self, pass: &Pass, next: u32, step_end: u32) -> Option<OpenTail> {
        let is_last = next == self.lifetimes.event_count();
        if !pass.trains {
            self.enter(pass.data, Phase::Unknown);
            return is_last.then_some(OpenTail { start: pass.data, phase: Phase::Unknown });
        }
        if !pass.is_over {
            self.enter(pass.data, Phase::Unknown);
            self.enter(pass.backward, Phase::Backward);
            return Some(OpenTail { start: pass.data, phase: Phase::Backward });
        }
        self.data_sizes.clone_from(&pass.data_sizes);
        self.forward = self.lifetimes.allocated_in(pass.forward, pass.backward).collect();
        if pass.data < pass.forward {
            self.enter(pass.data, Phase::Data);
        }
        self.enter(pass.forward, Phase::Forward);
        self.enter(pass.backward, Phase::Backward);
        if next <= pass.end {
            return None;
        }
        self.enter(pass.end, Phase::Optimizer);
        // Once gradients are dropped, the step is over; a block that is made then is for something else.
        let dropped = pass.gradients_freed.unwrap_or(next);
        let is_new =
            |event| self.lifetimes.allocated_at(event).is_some_and(|id| !self.lifetimes.is_scalar(id));
        let other = (pass.end.max(step_end)..next)
            .find(|&event| !self.may_be_optimizer(event) || (dropped < event && is_new(event)))?;
        let tail = self.write_calls(other, next);
        is_last.then_some(tail)
    }

    /// Whether an event may be an optimizer's: it works on blocks as large as parameters, on numbers, and in scratch
    /// memory.
    fn may_be_optimizer(&self, event: u32) -> bool {
        let Some(id) = self.lifetimes.allocated_at(event) else { return true };
        let size = self.lifetimes.size(id);
        let is_brief = self.lifetimes.free_event(id).saturating_sub(event) <= NEARBY_EVENTS;
        let is_plain = self.lifetimes.is_parameter_sized(id)
            || size <= NUMBERS_BYTES
            || (is_brief && size <= SCRATCH_BYTES);
        is_plain && self.data_load_at(event).is_none()
    }

    /// The loading of a batch that begins at an event: blocks of the sizes of the last one in the same order.
    fn data_load_at(&self, event: u32) -> Option<DataLoad> {
        let lifetimes = self.lifetimes;
        let first = lifetimes.allocated_at(event)?;
        if self.data_sizes.first() != Some(&lifetimes.size(first)) {
            return None;
        }
        let made: Vec<AllocId> = lifetimes
            .allocated_in(event, event.saturating_add(BATCH_EVENTS))
            .take(self.data_sizes.len() + 1)
            .collect();
        let first_of_forward = self.forward.first().map(|&id| lifetimes.size(id));
        let wanted = self.data_sizes.iter().copied().chain(first_of_forward);
        if !made.iter().map(|&id| lifetimes.size(id)).zip(wanted).all(|(size, wanted)| size == wanted) {
            return None;
        }
        let call = made.get(self.data_sizes.len()).map(|&id| lifetimes.alloc_event(id));
        // Without a call behind them, gradients and states may be as large.
        let is_sure = call.is_some() || !made.iter().any(|&id| lifetimes.is_parameter_sized(id));
        is_sure.then_some(DataLoad { call })
    }

    /// Write data and calls, one after the other, as long as they read like those of a training forward.
    fn write_calls(&mut self, from: u32, to: u32) -> OpenTail {
        let mut tail = OpenTail { start: from, phase: Phase::Unknown };
        let mut at = from;
        while at < to {
            let Some(data) = self.data_load_at(at) else {
                self.enter(at, Phase::Unknown);
                return OpenTail { start: at, phase: Phase::Unknown };
            };
            self.enter(at, Phase::Data);
            let Some(start) = data.call.filter(|&start| start < to) else {
                return OpenTail { start: at, phase: Phase::Data };
            };
            let (phase, end) = self.read_call(start, to);
            self.enter(start, phase);
            tail = OpenTail { start: at, phase };
            if phase != Phase::Eval {
                break;
            }
            at = end;
        }
        tail
    }

    /// The phase of a call, and the event at which the next thing begins.
    fn read_call(&self, start: u32, to: u32) -> (Phase, u32) {
        let lifetimes = self.lifetimes;
        let is_next = |&event: &u32| self.data_load_at(event).is_some();
        let to_next = (start.saturating_add(1)..to).find(is_next).unwrap_or(to);
        let most = self.forward.len().saturating_add(1);
        let made: Vec<AllocId> = lifetimes.allocated_in(start, to_next).take(most).collect();
        let next = made.get(self.forward.len()).map_or(to_next, |&id| lifetimes.alloc_event(id));
        let length = made.len().min(self.forward.len());
        let (made, forward) = (made.get(..length), self.forward.get(..length));
        let (Some(made), Some(forward)) = (made, forward) else { return (Phase::Unknown, to) };
        if length < MIN_BLOCKS_OF_MODEL || !have_like_sizes(lifetimes, made, forward) {
            return (Phase::Unknown, to);
        }
        let (kept, wanted) = (count_kept(lifetimes, made), count_kept(lifetimes, forward));
        let is_last = to == lifetimes.event_count();
        if wanted < MIN_TELLING_BLOCKS {
            (Phase::Unknown, to)
        } else if kept <= wanted / 2 {
            (Phase::Eval, next)
        } else if self.all_train && is_last && wanted - wanted / MISSING_PART <= kept {
            if next == to { (Phase::Forward, to) } else { (self.phase_after_forward(made, next), to) }
        } else {
            (Phase::Unknown, to)
        }
    }

    /// The phase at the end after a whole forward: a backward if activations are being freed while gradients are made.
    fn phase_after_forward(&self, forward: &[AllocId], from: u32) -> Phase {
        let lifetimes = self.lifetimes;
        let end = lifetimes.event_count();
        let gradients = lifetimes.allocated_in(from, end).filter(|&id| lifetimes.is_parameter_sized(id));
        let has_gradients = gradients.take(MIN_AGREEING).count() == MIN_AGREEING;
        let held = |until: u32| forward.iter().filter(|&&id| until <= lifetimes.free_event(id)).count();
        let is_falling = held(end) < held(from) - held(from) / SIMILAR_PART;
        if has_gradients && is_falling { Phase::Backward } else { Phase::Unknown }
    }
}

/// Whether nearly all of some allocations have the sizes of others, in any order.
fn have_like_sizes(lifetimes: &LifetimesByEvent<'_>, some: &[AllocId], others: &[AllocId]) -> bool {
    let mut left: HashMap<Bytes, usize> = HashMap::default();
    for &id in others {
        *left.entry(lifetimes.size(id)).or_default() += 1;
    }
    let mut has_partner = |id: AllocId| match left.get_mut(&lifetimes.size(id)) {
        Some(left) if 0 < *left => {
            *left -= 1;
            true
        }
        _ => false,
    };
    let same = some.iter().filter(|&&id| has_partner(id)).count();
    is_nearly_all(same, some.len())
}

/// How many of the allocations are live when the last of them is made.
fn count_kept(lifetimes: &LifetimesByEvent<'_>, made: &[AllocId]) -> usize {
    let end = made.last().map_or(0, |&id| lifetimes.alloc_event(id));
    made.iter().filter(|&&id| end < lifetimes.free_event(id)).count()
}
