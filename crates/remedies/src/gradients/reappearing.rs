//! Gradients that a backward makes anew once they are no longer kept.
//!
//! A gradient that is kept is filled in place: each backward computes what is added to it into a temporary, which is freed
//! at once. Where nothing is kept, that temporary becomes the gradient.

use super::kept::Kept;
use crate::scene::Scene;
use oomscope_model::{AllocId, Bytes, EventIx, Moment, Timeline};
use oomscope_program::TrainingStep;
use oomscope_simulator::{Point, Program, Row};
use std::collections::BTreeMap;
use std::ops::Range;

/// What later backwards make anew.
#[derive(Debug, Default)]
pub(super) struct Reappearing {
    /// Temporaries that become gradients, and how long they are kept.
    kept: Vec<(AllocId, Point)>,
    /// Gradients for which no temporary was found.
    added: Vec<(AllocId, Row)>,
}

impl Reappearing {
    /// Find them: a gradient that was kept through several steps reappears in each but the first.
    pub(super) fn of(scene: &Scene<'_>, steps: &[TrainingStep], kept: &[Kept]) -> Self {
        let timeline = scene.run.recording.timeline();
        let mut out = Self::default();
        for (number, step) in steps.iter().enumerate() {
            let is_reused = |gradient: &&Kept| {
                let end = timeline.lifetimes.end(gradient.id);
                gradient.step < number && end.is_none_or(|end| step.backward_end < end.0)
            };
            let mut by_size: BTreeMap<Bytes, Vec<AllocId>> = BTreeMap::new();
            for gradient in kept.iter().filter(is_reused) {
                by_size.entry(timeline.size(gradient.id)).or_default().push(gradient.id);
            }
            if by_size.is_empty() {
                continue;
            }
            let until = step.over.map_or(Point::NEVER, |over| Point::before(over, 0));
            let made = by_sizes(timeline, &step.first_backward, &by_size);
            for (size, gradients) in by_size {
                let made = made.get(&size).map(Vec::as_slice).unwrap_or_default();
                out.add_step(timeline, step, (&gradients, made), until);
            }
        }
        out
    }

    /// The gradients of one size, and what a backward makes of that size.
    fn add_step(
        &mut self,
        timeline: &Timeline,
        step: &TrainingStep,
        (gradients, made): (&[AllocId], &[AllocId]),
        until: Point,
    ) {
        let found = places(timeline, gradients, made);
        self.kept.extend(found.iter().map(|&id| (id, until)));
        let at = Point::before(EventIx(step.backward_end), 0);
        for &id in gradients.iter().skip(found.len()) {
            let bytes = timeline.size(id).as_u64();
            self.added.push((id, Row { bytes, start: at, end: until }));
        }
    }

    /// Make the change.
    pub(super) fn make(&self, program: &mut Program<'_>) {
        for &(id, until) in &self.kept {
            program.keep_until(id, until);
        }
        for &(like, row) in &self.added {
            program.add(like, row);
        }
    }
}

/// Which allocations of a backward become gradients: those that are freed soonest, since nothing else needs them.
fn places(timeline: &Timeline, gradients: &[AllocId], made: &[AllocId]) -> Vec<AllocId> {
    let lifetimes = &timeline.lifetimes;
    let span = |id: AllocId| lifetimes.end(id).map_or(u32::MAX, |end| end.0 - lifetimes.start(id).0);
    let mut soonest = made.to_vec();
    soonest.sort_by_key(|&id| span(id));
    soonest.truncate(gradients.len());
    soonest
}

/// The allocations of some events by size, as far as a size is asked for.
fn by_sizes(
    timeline: &Timeline,
    events: &Range<u32>,
    wanted: &BTreeMap<Bytes, Vec<AllocId>>,
) -> BTreeMap<Bytes, Vec<AllocId>> {
    let mut out: BTreeMap<Bytes, Vec<AllocId>> = BTreeMap::new();
    for id in timeline.lifetimes.started_between(Moment(events.start), Moment(events.end)) {
        let size = timeline.size(id);
        if wanted.contains_key(&size) {
            out.entry(size).or_default().push(id);
        }
    }
    out
}
