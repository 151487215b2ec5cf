//! A program as its allocations: those that were recorded, or others in their place.

mod original;
mod peak;
mod point;
mod row;
mod shared_rows;
mod sums;
#[cfg(test)]
mod sums_tests;
#[cfg(test)]
mod tests;
mod totals;

pub use peak::{Peak, Profile};
pub use point::Point;
pub use row::Row;

use oomscope_model::{AllocId, EventIx, Moment, SaturatingSum as _, Timeline};
use original::Original;
use shared_rows::SharedRows;
use std::sync::Arc;

/// An allocation that the recorded program did not make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Added {
    /// The allocation whose pool and stream it shares, and with which it scales.
    pub like: AllocId,
    /// Its size and lifetime.
    pub row: Row,
}

/// A request that failed in the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedRequest {
    /// Its event.
    pub event: EventIx,
    /// Requested bytes; 0 if the program does without it.
    pub bytes: u64,
}

/// The allocations of a program that differs from the recorded one. At first it is the recorded one.
///
/// Changes may be made one after the other, by several remedies: what was left out stays left out, factors multiply, and
/// of two ends the earlier counts.
#[derive(Debug, Clone)]
pub struct Program<'a> {
    timeline: &'a Timeline,
    original: Arc<Original>,
    rows: SharedRows,
    pub(super) added: Vec<Added>,
    failed: Vec<FailedRequest>,
}

impl<'a> Program<'a> {
    /// The recorded program.
    pub fn recorded(timeline: &'a Timeline) -> Self {
        let original = Arc::new(Original::of(timeline));
        let rows = original.rows.clone();
        let failed = timeline
            .ooms
            .iter()
            .map(|oom| FailedRequest { event: oom.event, bytes: oom.requested.as_u64().max(1) });
        Self { timeline, original, rows, added: Vec::new(), failed: failed.collect() }
    }

    /// The recording.
    pub fn timeline(&self) -> &'a Timeline {
        self.timeline
    }

    /// An allocation as it is now.
    #[inline]
    pub fn row(&self, id: AllocId) -> Row {
        self.rows.get(id)
    }

    fn change(&mut self, id: AllocId, change: impl FnOnce(Row) -> Row) {
        self.rows.set(id, change(self.row(id)));
    }

    /// Leave an allocation out.
    pub fn leave_out(&mut self, id: AllocId) {
        self.change(id, |row| Row { bytes: 0, ..row });
    }

    /// Leave several allocations out.
    pub fn leave_out_all(&mut self, ids: &[AllocId]) {
        for &id in ids {
            self.leave_out(id);
        }
    }

    /// Multiply the bytes of an allocation; whole bytes, rounded up. Those that were added like it stay as they are: see
    /// [`scale_added`](Self::scale_added).
    pub fn scale(&mut self, id: AllocId, factor: f64) {
        self.change(id, |row| Row { bytes: scaled(row.bytes, factor), ..row });
    }

    /// Multiply the bytes of allocations that were added like some of the recorded ones.
    pub fn scale_added(&mut self, factor: impl Fn(AllocId) -> f64) {
        for added in &mut self.added {
            added.row.bytes = scaled(added.row.bytes, factor(added.like));
        }
    }

    /// Multiply the bytes of requests that failed.
    pub fn scale_failed(&mut self, factor: impl Fn(EventIx) -> f64) {
        for failed in &mut self.failed {
            failed.bytes = scaled(failed.bytes, factor(failed.event));
        }
    }

    /// Give an allocation back at a point, unless it is gone by then. It is never given back before it is made.
    pub fn free_at(&mut self, id: AllocId, at: Point) {
        self.change(id, |row| Row { end: row.end.min(at.max(row.start)), ..row });
    }

    /// Keep an allocation until a point, if it would be gone before.
    pub fn keep_until(&mut self, id: AllocId, at: Point) {
        self.change(id, |row| Row { end: row.end.max(at), ..row });
    }

    /// Make an allocation at a point, unless it is there before. One from before the recording stays as it is.
    pub fn make_at(&mut self, id: AllocId, at: Point) {
        self.change(id, |row| Row { start: row.start.min(at), ..row });
    }

    /// Make an allocation later than recorded, up to its end.
    pub fn delay_until(&mut self, id: AllocId, at: Point) {
        self.change(id, |row| Row { start: row.start.max(at.min(row.end)), ..row });
    }

    /// Add an allocation; one without bytes or without a lifetime is not added.
    pub fn add(&mut self, like: AllocId, row: Row) {
        if row.bytes != 0 && row.start < row.end {
            self.added.push(Added { like, row });
        }
    }

    /// The bytes that are in use at a moment.
    pub fn bytes_at(&self, moment: Moment) -> u64 {
        let (rows, at) =
            (self.rows.iter().chain(self.added.iter().map(|added| &added.row)), Point::of(moment));
        let is_there = |row: &&Row| row.start <= at && at < row.end;
        rows.filter(is_there).map(|row| row.bytes).saturating_sum()
    }

    /// The allocations that were added.
    pub fn added(&self) -> &[Added] {
        &self.added
    }

    /// The requests that failed in the recording, in order.
    pub fn failed(&self) -> &[FailedRequest] {
        &self.failed
    }

    /// The allocations that another version of the program makes otherwise, or not at all.
    pub fn touched_by<'p>(&'p self, changed: &'p Self) -> impl Iterator<Item = AllocId> + 'p {
        self.rows.unlike(&changed.rows).map(|(id, ..)| id)
    }

    /// The program with nothing but what another version leaves as it is, and what `stays` in any case.
    #[must_use]
    pub fn untouched_by(&self, changed: &Self, stays: impl Fn(AllocId) -> bool) -> Self {
        let mut out = self.clone();
        self.touched_by(changed).filter(|&id| !stays(id)).for_each(|id| out.leave_out(id));
        for (failed, other) in out.failed.iter_mut().zip(&changed.failed) {
            failed.bytes = failed.bytes.min(other.bytes);
        }
        out
    }

    /// The number of recorded allocations.
    pub(super) fn recorded_count(&self) -> usize {
        self.rows.len()
    }

    /// Whether an allocation is surely as it was recorded.
    #[inline]
    pub(super) fn is_untouched(&self, id: AllocId) -> bool {
        self.rows.is_shared(&self.original.rows, id)
    }

    /// Whether an allocation is made and given back when it was recorded to be.
    #[inline]
    pub(super) fn is_in_place(&self, id: AllocId) -> bool {
        self.is_untouched(id) || self.row(id).is_in_place(self.original.rows.get(id))
    }

    /// The recorded allocations that are made or given back at other points.
    pub(super) fn moved(&self) -> impl Iterator<Item = (AllocId, Row)> + '_ {
        let changed = self.rows.unlike(&self.original.rows);
        let moved = changed.filter(|(_, row, recorded)| row.bytes != 0 && !row.is_in_place(*recorded));
        moved.map(|(id, row, _)| (id, row))
    }
}

fn scaled(bytes: u64, factor: f64) -> u64 {
    if factor == 1.0 {
        return bytes;
    }
    // The conversion saturates.
    (bytes as f64 * factor.max(0.0)).ceil() as u64
}
