//! The selection, and the way back to where the user was.

use super::outline::Outline;
use oomscope_analysis::MomentRange;
use oomscope_draw::View;
use oomscope_model::{Action, AllocId, EventIx, Moment, StackId, Timeline};

/// States that are remembered: a user goes back a few steps, and each takes about 100 bytes.
const MAX_STATES: usize = 200;

/// The selection; all views show it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Selection {
    /// Nothing: views show the state at the cursor.
    #[default]
    None,
    /// One allocation.
    Allocation(AllocId),
    /// Everything that was allocated with one stack.
    Stack(StackId),
    /// The segment that is or was at an address.
    Segment {
        /// Its first byte.
        addr: u64,
    },
}

impl Selection {
    /// True if there is more to say of it than of the cursor.
    pub(crate) fn has_details(self) -> bool {
        self != Self::None
    }

    /// The allocation or segment that an event is about.
    pub(crate) fn of_event(timeline: &Timeline, event: EventIx) -> Self {
        let events = &timeline.events;
        match events.action(event) {
            Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap => {
                events.addr(event).map_or(Self::None, |addr| Self::Segment { addr })
            }
            Action::Alloc => timeline.lifetimes.of_alloc_event(event).map_or(Self::None, Self::Allocation),
            _ => live_at_address(timeline, event).map_or(Self::None, Self::Allocation),
        }
    }
}

/// The allocation that was live before an event at the event's address.
fn live_at_address(timeline: &Timeline, event: EventIx) -> Option<AllocId> {
    let addr = timeline.events.addr(event).filter(|_| timeline.events.action(event) != Action::Oom)?;
    let mut live = timeline.lifetimes.live_at(Moment(event.0));
    live.find(|&id| timeline.addr(id) == addr)
}

/// The state that going back restores.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NavState {
    pub(crate) cursor: Moment,
    pub(crate) selection: Selection,
    /// The range that is marked.
    pub(crate) range: Option<MomentRange>,
    pub(crate) view: View,
    /// The height of the view follows what is in it.
    pub(crate) fits_height: bool,
    /// The filter as it is written.
    pub(crate) query: String,
    /// The memory of a finding that is shown.
    pub(crate) outlined: Option<Outline>,
}

/// Places before and after the current one, as a browser has them.
#[derive(Debug, Default)]
pub(crate) struct History {
    past: Vec<NavState>,
    future: Vec<NavState>,
}

impl History {
    /// The user leaves a place for a new one.
    pub(crate) fn leave(&mut self, place: NavState) {
        self.future.clear();
        // A drag that ends where it began would otherwise need two steps back.
        if self.past.last() == Some(&place) {
            return;
        }
        if MAX_STATES <= self.past.len() {
            self.past.remove(0);
        }
        self.past.push(place);
        debug_assert!(self.past.len() <= MAX_STATES);
    }

    /// The place before the current one.
    pub(crate) fn back(&mut self, current: NavState) -> Option<NavState> {
        go(&mut self.past, &mut self.future, current)
    }

    /// The place that [`Self::back`] left.
    pub(crate) fn forward(&mut self, current: NavState) -> Option<NavState> {
        go(&mut self.future, &mut self.past, current)
    }

    pub(crate) fn can_go_back(&self) -> bool {
        !self.past.is_empty()
    }

    pub(crate) fn can_go_forward(&self) -> bool {
        !self.future.is_empty()
    }
}

fn go(from: &mut Vec<NavState>, to: &mut Vec<NavState>, current: NavState) -> Option<NavState> {
    // A place that the user stepped back to by hand is no other place.
    while let Some(place) = from.pop() {
        if place != current {
            to.push(current);
            return Some(place);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_draw::Axis;

    fn place(moment: u32) -> NavState {
        let view = View { axis: Axis::Event, x0: 0.0, x1: 9.0, y0: 0.0, y1: 9.0 };
        NavState {
            cursor: Moment(moment),
            selection: Selection::None,
            range: None,
            view,
            fits_height: true,
            query: String::new(),
            outlined: None,
        }
    }

    #[test]
    fn back_and_forward_visit_the_same_places() {
        let mut history = History::default();
        history.leave(place(1));
        history.leave(place(2));
        assert_eq!(history.back(place(3)), Some(place(2)));
        assert_eq!(history.back(place(2)), Some(place(1)));
        assert_eq!(history.back(place(1)), None);
        assert_eq!(history.forward(place(1)), Some(place(2)));
        assert_eq!(history.forward(place(2)), Some(place(3)));
    }

    #[test]
    fn a_new_way_forgets_the_old_one() {
        let mut history = History::default();
        history.leave(place(1));
        assert_eq!(history.back(place(2)), Some(place(1)));
        history.leave(place(1));
        assert!(!history.can_go_forward());
        assert_eq!(history.back(place(5)), Some(place(1)));
    }

    #[test]
    fn memory_is_bounded() {
        let mut history = History::default();
        (0..1000).for_each(|moment| history.leave(place(moment)));
        assert_eq!(history.past.len(), MAX_STATES);
    }
}
