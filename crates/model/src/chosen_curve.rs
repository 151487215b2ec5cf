//! Totals over time of chosen allocations.

use super::curve::CurveBuilder;
use super::{AllocId, Bytes, Curve, EventTable, Lifetimes, Moment};

/// Stands for a moment at which no allocation ends.
const NONE: u32 = u32::MAX;

impl Lifetimes {
    /// Requested bytes at every moment, from alloc to completed free, of the allocations that `is_counted`
    /// chooses.
    pub fn curve_of(&self, events: &EventTable, is_counted: impl Fn(AllocId) -> bool) -> Curve {
        let moments = events.len() + 1;
        // An event ends at most one allocation, and starts at most one.
        let mut ends_at = vec![NONE; moments];
        // 128 bits, as sizes come from the file: a sum that saturated would not come back down.
        let mut total = 0i128;
        for id in self.ids().filter(|&id| is_counted(id)) {
            match self.end(id) {
                Some(end) => {
                    debug_assert_eq!(ends_at[end.index()], NONE);
                    ends_at[end.index()] = id.0;
                }
                None => total += i128::from(self.size(id, events)),
            }
        }
        let mut curve = CurveBuilder::new(moments);
        let mut started = self.ids().rev().peekable();
        for at in (0..moments as u32).rev().map(Moment) {
            curve.push_front(Bytes::clamped(total));
            let ended = ends_at[at.index()];
            if ended != NONE {
                total += i128::from(self.size(AllocId(ended), events));
            }
            while let Some(id) = started.next_if(|&id| self.start(id) == at) {
                if is_counted(id) {
                    total -= i128::from(self.size(id, events));
                }
            }
        }
        curve.finish()
    }

    /// The ids of all allocations, in allocation order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = AllocId> + ExactSizeIterator + use<> {
        (0..self.len() as u32).map(AllocId)
    }
}
