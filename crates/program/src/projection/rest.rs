//! The events of the rest of a step: what followed the counterpart of the failed request in the earlier iteration.

use super::counterparts::Counterparts;
use super::earlier::Earlier;
use super::failure::Failure;
use super::left_over::LeftOver;
use super::likeness::ROUNDING;
use super::sizes::Sizes;
use super::writer::Writer;
use crate::Run;
use foldhash::{HashMap, HashSet};
use oomscope_analysis::Category;
use oomscope_model::{Action, AllocId, Bytes, Event, EventIx, Moment};

/// What the events follow from.
#[derive(Clone, Copy)]
pub(super) struct Basis<'a> {
    pub(super) run: Run<'a>,
    pub(super) failure: &'a Failure,
    pub(super) earlier: &'a Earlier,
    pub(super) counterparts: &'a Counterparts,
    pub(super) sizes: &'a Sizes<'a>,
}

/// The failed request, and what would have followed it.
pub(super) fn events(basis: Basis<'_>) -> Vec<Event> {
    let Basis { run, failure, earlier, counterparts, .. } = basis;
    let table = &run.recording.events;
    let live = run.recording.lifetimes.live_at(Moment(earlier.at.0));
    let mut rest = Rest {
        basis,
        writer: Writer::new(table.get(failure.event)),
        left: LeftOver::of(run, failure, earlier, counterparts),
        dropped: HashSet::default(),
        made: HashMap::default(),
        holders: live.map(|id| (run.recording.addr(id), id)).collect(),
    };
    for event in (earlier.at.0..earlier.events.end).map(EventIx) {
        let Some(addr) = table.addr(event) else { continue };
        match table.action(event) {
            Action::Alloc => rest.alloc(event, addr),
            Action::FreeRequested | Action::FreeCompleted => rest.free(event, addr),
            _ => {}
        }
    }
    rest.writer.into_events()
}

/// The rest of a step while it is written.
struct Rest<'a> {
    basis: Basis<'a>,
    writer: Writer,
    left: LeftOver<'a>,
    /// What the earlier iteration left, and is gone by now.
    dropped: HashSet<AllocId>,
    /// Address and bytes of what was written for an allocation of the earlier iteration.
    made: HashMap<AllocId, (u64, Bytes)>,
    /// The allocation at each address of the earlier iteration.
    holders: HashMap<u64, AllocId>,
}

impl Rest<'_> {
    /// Write what an allocation of the earlier iteration stands for.
    fn alloc(&mut self, event: EventIx, addr: u64) {
        let Basis { run, failure, earlier, sizes, .. } = self.basis;
        let Some(id) = run.recording.lifetimes.of_alloc_event(event) else { return };
        self.holders.insert(addr, id);
        self.drop_left_over(event, id);
        let expected = Bytes::of_size(sizes.of_counterpart(id));
        let is_failed = event == earlier.at;
        if !is_failed && !self.dropped.contains(&id) && self.is_made_once(id) {
            return;
        }
        let bytes = if is_failed { failed_bytes(failure, expected) } else { expected };
        let addr = self.writer.alloc(&run.recording.events.get(event), bytes);
        self.made.insert(id, (addr, bytes));
        self.left.note_made(id);
    }

    /// Write what a free of the earlier iteration stands for.
    fn free(&mut self, event: EventIx, addr: u64) {
        let events = &self.basis.run.recording.events;
        let Some(&id) = self.holders.get(&addr) else { return };
        let action = events.action(event);
        if action == Action::FreeCompleted {
            self.holders.remove(&addr);
        }
        if let Some((addr, bytes)) = self.made.get(&id).copied().or_else(|| self.recorded(id, action)) {
            self.writer.free(&events.get(event), addr, bytes);
        }
    }

    /// Address and bytes of the recorded counterpart of an allocation, if it is still there to be given back.
    fn recorded(&self, id: AllocId, action: Action) -> Option<(u64, Bytes)> {
        let Basis { run, failure, counterparts, .. } = self.basis;
        let ours = counterparts.get(id)?;
        let lifetimes = &run.recording.lifetimes;
        let is_live =
            lifetimes.start(ours).0 <= failure.event.0 && failure.is_before_end_of(run.recording, ours);
        // What waits for a stream was asked to be freed.
        let is_new = action == Action::FreeCompleted
            || lifetimes.requested(ours).is_none_or(|at| failure.event.0 < at.0);
        (is_live && is_new).then(|| (run.recording.addr(ours), run.recording.size(ours)))
    }

    /// Write that what the earlier iteration left is gone, where an allocation shows it.
    fn drop_left_over(&mut self, event: EventIx, id: AllocId) {
        let run = self.basis.run;
        let phase = run.attribution.phases.phase_at(Moment::after(event));
        for gone in self.left.gone_before(run.recording.stack(id), phase) {
            let (addr, bytes) = (run.recording.addr(gone), run.recording.size(gone));
            for action in [Action::FreeRequested, Action::FreeCompleted] {
                self.writer.free(&Event { action, ..run.recording.events.get(event) }, addr, bytes);
            }
            self.dropped.insert(gone);
        }
    }

    /// Whether the earlier iteration made something that is still there, and that no iteration makes a second time: what the one
    /// before it did not make or, if there was none, what is no part of a pass, such as the state of an optimizer.
    fn is_made_once(&self, id: AllocId) -> bool {
        let Basis { run, failure, counterparts, .. } = self.basis;
        let is_of_pass = || matches!(run.category(id), Category::Activation | Category::Input);
        failure.is_before_end_of(run.recording, id)
            && !counterparts.is_made_again(id).unwrap_or_else(is_of_pass)
    }
}

/// The bytes of the failed request: those of its counterpart, unless they are not what was asked for.
fn failed_bytes(failure: &Failure, expected: Bytes) -> Bytes {
    let rounding = failure.bytes - expected;
    if (Bytes::ZERO..Bytes::of_size(ROUNDING)).contains(&rounding) { expected } else { failure.bytes }
}
