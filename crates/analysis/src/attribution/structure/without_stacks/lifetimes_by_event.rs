//! A recording without stacks, event by event: which allocation is made or freed.

use crate::attribution::facts::{free_event, leading_parameters};
use crate::attribution::thresholds::SCALAR_BYTES;
use foldhash::HashSet;
use oomscope_model::{AllocId, Bytes, EventIx, Moment, Timeline};

/// The event of a free that is not within the recording: later than all others.
pub(super) const NEVER: u32 = u32::MAX;

/// An event's change to what is live.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// None, or one that is not the program's.
    None,
    /// An allocation is made.
    Alloc(AllocId),
    /// The program frees an allocation.
    Free(AllocId),
}

/// Allocations and frees by event, and which allocations are as large as parameters.
pub(super) struct LifetimesByEvent<'a> {
    timeline: &'a Timeline,
    changes: Vec<Change>,
    /// Of each allocation, whether it is as large as a parameter.
    are_parameter_sized: Vec<bool>,
    /// How many blocks there are that may be parameters.
    pub(super) parameter_count: usize,
    /// How many different sizes parameters have.
    pub(super) parameter_size_count: usize,
    /// The event that makes the first allocation after the parameters.
    pub(super) after_parameters: u32,
}

impl<'a> LifetimesByEvent<'a> {
    pub(super) fn of(timeline: &'a Timeline) -> Self {
        let lifetimes = &timeline.lifetimes;
        let (first_other, parameter_sizes) = parameters(timeline);
        let sizes: HashSet<Bytes> = parameter_sizes.iter().copied().collect();
        let mut changes = vec![Change::None; timeline.events.len()];
        let mut are_parameter_sized = Vec::with_capacity(lifetimes.len());
        for id in lifetimes.ids() {
            let mut put = |event: Option<EventIx>, change| {
                if let Some(slot) = event.and_then(|event| changes.get_mut(event.index())) {
                    *slot = change;
                }
            };
            put(free_event(lifetimes, id), Change::Free(id));
            put(lifetimes.start(id).event(), Change::Alloc(id));
            are_parameter_sized.push(sizes.contains(&timeline.size(id)));
        }
        let first_other = lifetimes.ids().nth(first_other);
        let after_parameters = first_other.and_then(|id| lifetimes.start(id).event());
        Self {
            timeline,
            changes,
            are_parameter_sized,
            parameter_count: parameter_sizes.len(),
            parameter_size_count: sizes.len(),
            after_parameters: after_parameters.map_or(0, |event| event.0),
        }
    }

    /// The number of events.
    pub(super) fn event_count(&self) -> u32 {
        self.changes.len() as u32
    }

    pub(super) fn change_at(&self, event: u32) -> Change {
        self.changes.get(event as usize).copied().unwrap_or(Change::None)
    }

    /// The allocation that an event makes.
    pub(super) fn allocated_at(&self, event: u32) -> Option<AllocId> {
        match self.change_at(event) {
            Change::Alloc(id) => Some(id),
            _ => None,
        }
    }

    /// The allocations that a stretch of events makes, in order.
    pub(super) fn allocated_in(&self, from: u32, to: u32) -> impl Iterator<Item = AllocId> {
        (from..to).filter_map(|event| self.allocated_at(event))
    }

    /// The events of a stretch that free something.
    pub(super) fn frees_in(&self, from: u32, to: u32) -> impl Iterator<Item = u32> {
        (from..to).filter(|&event| matches!(self.change_at(event), Change::Free(_)))
    }

    pub(super) fn size(&self, id: AllocId) -> Bytes {
        self.timeline.size(id)
    }

    /// The event that makes an allocation; 0 if it is older than the recording.
    pub(super) fn alloc_event(&self, id: AllocId) -> u32 {
        self.timeline.lifetimes.start(id).event().map_or(0, |event| event.0)
    }

    /// The event at which an allocation is freed, or [`NEVER`].
    pub(super) fn free_event(&self, id: AllocId) -> u32 {
        free_event(&self.timeline.lifetimes, id).map_or(NEVER, |event| event.0)
    }

    /// Whether an allocation is a single number.
    #[inline]
    pub(super) fn is_scalar(&self, id: AllocId) -> bool {
        self.size(id) <= SCALAR_BYTES
    }

    /// Whether an allocation is as large as a parameter: a gradient, a state or a temporary of the
    /// optimizer, rarely anything else.
    pub(super) fn is_parameter_sized(&self, id: AllocId) -> bool {
        self.are_parameter_sized.get(id.index()).copied().unwrap_or(false)
    }

    /// Whether an allocation may be an activation.
    fn may_be_activation(&self, id: AllocId) -> bool {
        !self.is_parameter_sized(id) && !self.is_scalar(id)
    }

    /// Whether an allocation may be an activation of a complete pass: it is freed.
    #[inline]
    pub(super) fn is_freed_activation(&self, id: AllocId) -> bool {
        self.free_event(id) != NEVER && self.may_be_activation(id)
    }

    /// Whether an allocation may be an activation of a pass that is not over: it is never freed.
    pub(super) fn is_kept_activation(&self, id: AllocId) -> bool {
        self.free_event(id) == NEVER && self.may_be_activation(id)
    }
}

/// How many allocations are made until the parameters are complete, and the sizes of those that stay. Blocks from before the
/// first event are parameters if they stay; in a recording from the start, so are those before anything is freed.
fn parameters(timeline: &Timeline) -> (usize, Vec<Bytes>) {
    let lifetimes = &timeline.lifetimes;
    let life = |id: AllocId| -> Option<u32> {
        let freed: Moment = lifetimes.gone(id)?;
        Some(freed.0.saturating_sub(lifetimes.start(id).0))
    };
    let count = match lifetimes.initial_count() {
        0 => leading_parameters((0..lifetimes.len() as u32).map(|id| life(AllocId(id)))),
        initial => initial,
    };
    let kept = lifetimes.ids().take(count).filter(|&id| lifetimes.gone(id).is_none());
    (count, kept.map(|id| timeline.size(id)).collect())
}
