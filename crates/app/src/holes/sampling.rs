//! The moments whose holes are shown, and their holes in the background.

use crate::work::worker::Task;
use oomscope_analysis::{HolesAt, SegmentIndex, holes_at};
use oomscope_draw::View;
use oomscope_model::{Moment, Recording, Timeline};
use std::sync::{Arc, OnceLock};

/// Moments that are looked at for one view. A map of 50,000 blocks takes some milliseconds, so that all of them take
/// about half a second; a view of fewer moments shows every one.
const SAMPLES: usize = 240;

/// The moments that stand for a view: the first of each of as many columns, and the last.
pub(super) fn moments(timeline: &Timeline, view: &View) -> Arc<[Moment]> {
    let scale = view.on(timeline);
    let of_columns = (0..SAMPLES).map(|column| scale.moments_of_column(column, SAMPLES));
    let last = of_columns.clone().map(|range| range.end).max().and_then(|end| end.checked_sub(1));
    let starts = of_columns.filter(|range| !range.is_empty()).map(|range| range.start);
    let mut all: Vec<Moment> = starts.chain(last).map(|moment| Moment(moment as u32)).collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}

/// Finds the holes of one device.
#[derive(Clone)]
pub(super) struct HolesTask {
    recording: Recording,
    index: Arc<OnceLock<SegmentIndex>>,
}

impl HolesTask {
    pub(super) fn new(recording: Recording) -> Self {
        Self { recording, index: Arc::default() }
    }
}

impl Task for HolesTask {
    type Request = Arc<[Moment]>;
    type Response = Arc<[HolesAt]>;

    fn run(&self, moments: &Arc<[Moment]>) -> Arc<[HolesAt]> {
        let index = self.index.get_or_init(|| SegmentIndex::new(&self.recording));
        holes_at(index, &self.recording, moments).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::timelines as fixture;

    #[test]
    fn few_moments_are_all_looked_at_and_many_are_sampled_to_the_end() {
        let few = fixture::timeline(&fixture::sawtooth(100));
        let all: Vec<Moment> = (0..=100).map(Moment).collect();
        assert_eq!(*moments(&few, &View::fit(&few)), all[..]);
        let many = fixture::timeline(&fixture::sawtooth(5000));
        let sampled = moments(&many, &View::fit(&many));
        assert!(sampled.len() <= SAMPLES + 1);
        assert_eq!((sampled.first(), sampled.last()), (Some(&Moment(0)), Some(&Moment(5000))));
    }
}
