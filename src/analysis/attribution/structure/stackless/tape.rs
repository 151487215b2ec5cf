//! A recording without stacks as births and deaths of allocations.

use crate::analysis::attribution::facts::first_blocks;
use crate::model::{AllocId, Moment, Timeline};
use foldhash::HashSet;

/// Not within the recording.
pub(super) const NEVER: u32 = u32::MAX;

/// What happens at an event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Nothing that counts here.
    Nothing,
    /// An allocation is made.
    Birth(u32),
    /// The program gives an allocation back.
    Death(u32),
}

/// Births and deaths by event.
pub(super) struct Tape<'a> {
    timeline: &'a Timeline,
    /// Twice the allocation, plus one for its death; [`NEVER`] for other events.
    marks: Vec<u32>,
    /// Of each allocation, whether it is as large as a parameter.
    like_parameters: Vec<bool>,
    parameter_count: usize,
    parameter_sizes: usize,
    /// The event that makes the first thing that is no parameter.
    after_parameters: u32,
}

impl<'a> Tape<'a> {
    pub(super) fn of(timeline: &'a Timeline) -> Self {
        let (first, all) = parameters(timeline);
        let sizes: HashSet<i64> = all.iter().copied().collect();
        let mut marks = vec![NEVER; timeline.events.len()];
        let mut like_parameters = Vec::with_capacity(timeline.lifetimes.len());
        for id in (0..timeline.lifetimes.len() as u32).map(AllocId) {
            let code = id.0.saturating_mul(2);
            let mut put = |moment: Option<Moment>, code| {
                let at = moment.and_then(Moment::event).and_then(|event| marks.get_mut(event.index()));
                if let Some(mark) = at {
                    *mark = code;
                }
            };
            put(gone(timeline, id), code.saturating_add(1));
            put(Some(timeline.lifetimes.start(id)), code);
            like_parameters.push(sizes.contains(&timeline.lifetimes.size(id, &timeline.events)));
        }
        let (parameter_count, parameter_sizes) = (all.len(), sizes.len());
        let after = Some(AllocId(first as u32)).filter(|_| first < timeline.lifetimes.len());
        let after_parameters =
            after.and_then(|id| timeline.lifetimes.start(id).event()).map_or(0, |event| event.0);
        Self { timeline, marks, like_parameters, parameter_count, parameter_sizes, after_parameters }
    }

    pub(super) fn len(&self) -> u32 {
        self.marks.len() as u32
    }

    pub(super) fn at(&self, event: u32) -> Mark {
        match self.marks.get(event as usize).copied() {
            None | Some(NEVER) => Mark::Nothing,
            Some(code) if code % 2 == 0 => Mark::Birth(code / 2),
            Some(code) => Mark::Death(code / 2),
        }
    }

    pub(super) fn size(&self, id: u32) -> i64 {
        self.timeline.lifetimes.size(AllocId(id), &self.timeline.events)
    }

    /// The event of a birth; 0 of what is older than the recording.
    pub(super) fn birth(&self, id: u32) -> u32 {
        self.timeline.lifetimes.start(AllocId(id)).event().map_or(0, |event| event.0)
    }

    /// The event at which an allocation is given back.
    pub(super) fn death(&self, id: u32) -> u32 {
        gone(self.timeline, AllocId(id)).and_then(Moment::event).map_or(NEVER, |event| event.0)
    }

    /// Whether an allocation is as large as a parameter: a gradient, a state or a temporary of the
    /// optimizer, rarely anything else.
    pub(super) fn is_like_parameter(&self, id: u32) -> bool {
        self.like_parameters.get(id as usize).copied().unwrap_or(false)
    }

    /// How many sizes parameters have.
    pub(super) fn parameter_sizes(&self) -> usize {
        self.parameter_sizes
    }

    /// The event that makes the first thing that is no parameter.
    pub(super) fn after_parameters(&self) -> u32 {
        self.after_parameters
    }

    /// What is made in a stretch of events, in order.
    pub(super) fn births(&self, from: u32, to: u32) -> impl Iterator<Item = u32> {
        (from..to).filter_map(|event| match self.at(event) {
            Mark::Birth(id) => Some(id),
            _ => None,
        })
    }

    /// How many blocks there are that may be parameters.
    pub(super) fn parameter_count(&self) -> usize {
        self.parameter_count
    }
}

fn gone(timeline: &Timeline, id: AllocId) -> Option<Moment> {
    timeline.lifetimes.requested(id).or(timeline.lifetimes.end(id))
}

/// What stays from before the first event; in a recording from the start, what is made before
/// anything goes again. Their sizes, and how many allocations there are until the last of them.
fn parameters(timeline: &Timeline) -> (usize, Vec<i64>) {
    let lifetimes = &timeline.lifetimes;
    let initial = lifetimes.initial_count();
    let ids = (0..lifetimes.len() as u32).map(AllocId);
    let stays = |&id: &AllocId| gone(timeline, id).is_none();
    let size = |id: AllocId| lifetimes.size(id, &timeline.events);
    let life = |id: AllocId| gone(timeline, id).map(|gone| gone.0.saturating_sub(lifetimes.start(id).0));
    let first = if initial == 0 { first_blocks::parameters(ids.clone().map(life)) } else { initial };
    (first, ids.take(first).filter(stays).map(size).collect())
}
