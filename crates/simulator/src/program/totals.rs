//! What a program has in use, added up from the recorded one and its changes.

use super::sums::ChangedSums;
use super::{Peak, Point, Profile, Program, Row};

impl Program<'_> {
    /// The most bytes in use at once. A request that failed counts at its event.
    pub fn peak(&self) -> Peak {
        self.sums().0
    }

    /// The most bytes in use at once, as a whole and by stretches.
    pub fn sums(&self) -> (Peak, Profile) {
        let mut sums = ChangedSums::of(self.original.sums(self.timeline));
        for (_, row, recorded) in self.rows.unlike(&self.original.rows) {
            if row.is_in_place(recorded) {
                sums.at_events(row, row.bytes_there() - recorded.bytes_there());
            } else {
                sums.at_events(recorded, -recorded.bytes_there());
                sums.anywhere(row);
            }
        }
        for added in &self.added {
            sums.anywhere(added.row);
        }
        for failed in &self.failed {
            let (start, end) = (Point::at(failed.event), Point::after(failed.event, 0));
            sums.anywhere(Row { bytes: failed.bytes, start, end });
        }
        sums.run()
    }
}
