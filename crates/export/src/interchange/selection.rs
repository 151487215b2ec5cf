//! The part of a recording that is exported.

use super::profile::Profile;
use foldhash::HashMap;
use oomscope_analysis::filter::Matches;
use oomscope_analysis::{Attribution, EventSet, StackLabels};
use oomscope_model::{Action, AllocId, EventIx, Moment, Recording, Snapshot, StackId};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The exported part of one device.
#[derive(Debug)]
pub struct Portion {
    /// The device.
    pub recording: Recording,
    /// Its categories, phases and iterations.
    pub attribution: Arc<Attribution>,
    /// The exported events, by number.
    pub events: Range<u32>,
    /// Allocations are exported if they are live at one of these moments: from the first to the last.
    pub live: [Moment; 2],
    /// The allocations that the filter lets through, and their events; `None` without a filter.
    matches: Option<(Matches, EventSet)>,
}

/// The exported part of a file.
#[derive(Debug)]
pub struct Selection<'a> {
    /// The file.
    pub snapshot: &'a Snapshot,
    /// Its devices.
    pub portions: Vec<Portion>,
    /// A trace of torch.profiler that a trace is to have beside the recording.
    pub profile: Option<Profile>,
    sites: StackLabels,
    actions: HashMap<Action, Cow<'a, str>>,
}

impl Portion {
    /// Everything of a device.
    pub fn whole(recording: Recording, attribution: Arc<Attribution>) -> Self {
        let end = recording.end();
        Self { recording, attribution, events: 0..end.0, live: [Moment::START, end], matches: None }
    }

    /// The events of a range, what was live at some moment of it, and the state at its end.
    #[must_use]
    pub fn within(self, [first, last]: [u32; 2]) -> Self {
        let end = last.saturating_add(1).min(self.recording.events.len() as u32);
        let first = first.min(end);
        Self { events: first..end, live: [Moment(first), Moment(end)], ..self }
    }

    /// The state at a moment, and the events that led to it.
    #[must_use]
    pub fn at(self, moment: Moment) -> Self {
        Self { events: 0..moment.0, live: [moment; 2], ..self }
    }

    /// Only allocations that a filter lets through, with their events.
    #[must_use]
    pub fn matching(self, matches: Matches) -> Self {
        let events = EventSet::of_allocations(&self.recording, matches.iter());
        Self { matches: Some((matches, events)), ..self }
    }

    /// The moment whose blocks and segments are exported.
    pub fn moment(&self) -> Moment {
        self.live[1]
    }

    /// Whether it is the state at a moment, not what happened in a range.
    pub(super) fn is_moment(&self) -> bool {
        self.live[0] == self.live[1]
    }

    /// The allocations whose bytes are added up: those that are live at the moment or, in a range, those that were made in it.
    pub(super) fn weighed(&self) -> impl Iterator<Item = AllocId> + '_ {
        let ([from, to], lifetimes) = (self.live, &self.recording.lifetimes);
        let live = self.is_moment().then(|| lifetimes.live_at(to)).into_iter().flatten();
        let made = lifetimes.started_between(from, to);
        live.chain(made).filter(|&id| self.keeps(id))
    }

    /// Whether there is a filter.
    pub(super) fn is_filtered(&self) -> bool {
        self.matches.is_some()
    }

    /// Whether the filter lets an allocation through.
    pub(super) fn keeps(&self, id: AllocId) -> bool {
        self.matches.as_ref().is_none_or(|(matches, _)| matches.contains(id))
    }

    /// The exported events.
    pub(super) fn exported_events(&self) -> impl Iterator<Item = EventIx> + '_ {
        let kept = |ix: &EventIx| self.matches.as_ref().is_none_or(|(_, events)| events.contains(*ix));
        self.events.clone().map(EventIx).filter(kept)
    }

    /// The exported allocations, in allocation order.
    pub(super) fn allocations(&self) -> impl Iterator<Item = AllocId> + '_ {
        let [from, to] = self.live;
        self.recording.lifetimes.live_between(from, to).filter(|&id| self.keeps(id))
    }
}

impl<'a> Selection<'a> {
    /// Some devices of a file.
    pub fn new(snapshot: &'a Snapshot, portions: Vec<Portion>) -> Self {
        let name = |action| match snapshot.actions.other(action) {
            Some(name) => (action, snapshot.strings.whole(name)),
            None => (action, snapshot.actions.name(action, &snapshot.strings)),
        };
        let actions = snapshot.actions.all().map(name).collect();
        Self { snapshot, portions, profile: None, sites: StackLabels::of_sites(snapshot), actions }
    }

    /// The most allocations and events that are exported, for progress.
    pub fn steps(&self) -> u64 {
        let of = |portion: &Portion| portion.allocations().count() + portion.events.len();
        self.portions.iter().map(of).sum::<usize>() as u64
    }

    /// The name of an action.
    pub(super) fn action(&self, action: Action) -> &str {
        self.actions.get(&action).map_or("", AsRef::as_ref)
    }

    /// The line of the user's code that a stack stands for; `None` without a stack.
    pub(super) fn site(&self, stack: StackId) -> Option<&str> {
        (stack != StackId::EMPTY).then(|| self.sites.label(stack))
    }
}
