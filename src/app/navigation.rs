//! Where the user is in a device, and the way back.

use crate::draw::View;
use crate::model::{AllocId, Moment, StackId};

/// Places that are remembered.
const MAX_PLACES: usize = 200;

/// What is selected; all views show it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Selection {
    /// Nothing: views show what is at the cursor.
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

/// What going back restores.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    pub(super) cursor: Moment,
    pub(super) selection: Selection,
    pub(super) view: View,
    /// The filter as it is written.
    pub(super) query: String,
}

/// Places before and after the current one, as a browser has them.
#[derive(Debug, Default)]
pub(super) struct History {
    past: Vec<Place>,
    future: Vec<Place>,
}

impl History {
    /// The user leaves a place for a new one.
    pub(super) fn leave(&mut self, place: Place) {
        self.future.clear();
        if self.past.last() == Some(&place) {
            return;
        }
        if MAX_PLACES <= self.past.len() {
            self.past.remove(0);
        }
        self.past.push(place);
    }

    /// The place before the current one.
    pub(super) fn back(&mut self, current: Place) -> Option<Place> {
        go(&mut self.past, &mut self.future, current)
    }

    /// The place that [`Self::back`] left.
    pub(super) fn forward(&mut self, current: Place) -> Option<Place> {
        go(&mut self.future, &mut self.past, current)
    }

    pub(super) fn can_go_back(&self) -> bool {
        !self.past.is_empty()
    }

    pub(super) fn can_go_forward(&self) -> bool {
        !self.future.is_empty()
    }
}

fn go(from: &mut Vec<Place>, to: &mut Vec<Place>, current: Place) -> Option<Place> {
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
    use crate::draw::Axis;

    fn place(moment: u32) -> Place {
        let view = View { axis: Axis::Event, x0: 0.0, x1: 9.0, y0: 0.0, y1: 9.0 };
        Place { cursor: Moment(moment), selection: Selection::None, view, query: String::new() }
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
        assert_eq!(history.past.len(), MAX_PLACES);
    }
}
