//! One allocation of a program.

use super::point::Point;
use oomscope_model::{AllocId, Timeline};

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
    pub(super) fn bytes_there(self) -> i64 {
        if self.start < self.end { i64::try_from(self.bytes).unwrap_or(i64::MAX) } else { 0 }
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
        bytes: requested_bytes(timeline.size(id)),
        start: Point::of(lifetimes.start(id)),
        end: lifetimes.end(id).map_or(Point::NEVER, Point::of),
    }
}

/// The bytes of a request; none where the recording has less than none.
pub(super) fn requested_bytes(bytes: i64) -> u64 {
    bytes.max(0).unsigned_abs()
}
