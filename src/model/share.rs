//! The total of some allocations over time.

use super::curve::CurveBuilder;
use super::{AllocId, Curve, EventTable, Lifetimes, Moment};

/// No allocation ends at this moment.
const NONE: u32 = u32::MAX;

impl Lifetimes {
    /// Requested bytes of those allocations that are counted, from their alloc to their completed
    /// free, per moment.
    pub fn curve_of(&self, events: &EventTable, is_counted: impl Fn(AllocId) -> bool) -> Curve {
        let moments = events.len() + 1;
        // An event ends at most one allocation, and starts at most one.
        let mut ends_at = vec![NONE; moments];
        let mut total = 0i128;
        for id in self.ids().filter(|&id| is_counted(id)) {
            match self.end(id) {
                Some(end) => ends_at[end.index()] = id.0,
                None => total += i128::from(self.size(id, events)),
            }
        }
        let mut curve = CurveBuilder::new(moments);
        let mut started = self.ids().rev().peekable();
        for at in (0..moments as u32).rev().map(Moment) {
            curve.push_front(saturated(total));
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

/// As an `i64`, or the nearest there is: sizes come from a file.
fn saturated(total: i128) -> i64 {
    total.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}
