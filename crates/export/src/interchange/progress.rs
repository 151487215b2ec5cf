//! How far an output is.

/// Number of steps between two reports: less than a millisecond of work, and too rare to cost any.
const STEPS: u64 = 4096;

/// Counts what is written, and says so from time to time.
pub struct Progress<'a> {
    done: u64,
    report: &'a mut dyn FnMut(u64),
}

impl<'a> Progress<'a> {
    /// Nothing is done yet. `report` is called with what is done.
    pub fn new(report: &'a mut dyn FnMut(u64)) -> Self {
        Self { done: 0, report }
    }

    /// One row, allocation or event more.
    #[inline]
    pub(super) fn step(&mut self) {
        self.done += 1;
        if self.done.is_multiple_of(STEPS) {
            (self.report)(self.done);
        }
    }
}
