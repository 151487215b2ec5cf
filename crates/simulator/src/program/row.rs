//! One allocation of a program.

use super::point::Point;
use oomscope_model::{AllocId, Bytes, Timeline};

/// One allocation of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Requested bytes; 0 if the program does without it.
    pub bytes: u64,
    /// When it is asked for.
    pub start: Point,
    /// When it is gone; [`Point::NEVER`] if it stays.
    pub end: Point,
}

impl Row {
    /// Its bytes, if it is ever there.
    #[inline]
    pub(super) fn bytes_there(self) -> Bytes {
        if self.start < self.end { Bytes::of_size(self.bytes) } else { Bytes::ZERO }
    }

    /// Whether it is made and given back when another is.
    #[inline]
    pub(super) fn is_in_place(self, other: Self) -> bool {
        (self.start, self.end) == (other.start, other.end)
    }
}

/// An allocation as it was recorded.
pub(super) fn recorded_row(timeline: &Timeline, id: AllocId) -> Row {
    let lifetimes = &timeline.lifetimes;
    Row {
        bytes: timeline.size(id).as_u64(),
        start: Point::of(lifetimes.start(id)),
        end: lifetimes.end(id).map_or(Point::NEVER, Point::of),
    }
}
