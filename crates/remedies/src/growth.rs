//! What a program keeps more of with each iteration, or with each call of a model.
//!
//! A program that fails because something grows fails again later, whatever makes room for what it has now.

use super::scene::Scene;
use oomscope_model::{Bytes, Moment};
use oomscope_program::projection::Turn;
use oomscope_program::share::{TRACE, WORTH};
use oomscope_simulator::Program;

/// The growth of a program from one iteration to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Growth {
    /// When an iteration began that did the same as the one that failed, if another came before it; when it was over; and when the
    /// one that failed is.
    moments: (Option<Moment>, Moment, Moment),
    /// How many iterations lie between the last two.
    apart: u32,
    /// The one that failed.
    failed: Turn,
    /// Bytes for each iteration.
    bytes: u64,
}

impl Growth {
    /// The growth of a program that failed, if what it came to so far is worth a word, and as much as the bytes that are missing.
    pub(super) fn of(scene: &Scene<'_>, program: &Program<'_>, missing: u64) -> Option<Self> {
        let course = scene.projected.ok()?;
        let like = course.like()?;
        let (start, end) = like.moments;
        let moments = (start, end, scene.run.recording.end());
        let failed = course.failed?;
        let growth = Self { moments, apart: like.apart, failed, bytes: 0 }.with(program)?;
        let so_far = growth.bytes.saturating_mul(failed.number.into());
        (WORTH.is_reached(so_far, program.peak().bytes) && missing <= so_far).then_some(growth)
    }

    /// The growth of the program with a change; `None` if the change stops it.
    pub(super) fn of_changed(self, program: &Program<'_>) -> Option<Self> {
        self.with(program).filter(|growth| TRACE.is_exceeded(growth.bytes, self.bytes))
    }

    /// What grew in each of two stretches, if it did in both: a single one may have been larger than another.
    fn with(self, program: &Program<'_>) -> Option<Self> {
        let (start, end, failed_end) = self.moments;
        let middle = program.bytes_at(end);
        let later = program.bytes_at(failed_end).saturating_sub(middle).checked_div(self.apart.into())?;
        let before = start.map_or(later, |start| middle.saturating_sub(program.bytes_at(start)));
        let bytes = later.min(before);
        (bytes != 0).then_some(Self { bytes, ..self })
    }

    /// The last one that fits where some bytes are to spare in the one that failed.
    pub(super) fn last(self, margin: Bytes) -> Turn {
        let more = margin.as_u64() / self.bytes;
        let number = self.failed.number.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        Turn { number, ..self.failed }
    }
}
