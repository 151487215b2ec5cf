//! What memory is made of at many moments, found in one pass over the allocations.

use super::{Basis, Categories, Category, CategoryBytes};
use oomscope_model::{AllocId, Bytes, Moment, Timeline};

/// Bytes and allocations of a category that begin or end; wide enough that no sum of them overflows.
#[derive(Clone, Copy, Default)]
struct Change {
    bytes: i128,
    inferred_bytes: i128,
    count: i64,
}

impl Change {
    fn add(&mut self, bytes: Bytes, is_inferred: bool, count: i64) {
        let bytes = i128::from(bytes) * i128::from(count);
        self.bytes += bytes;
        self.inferred_bytes += if is_inferred { bytes } else { 0 };
        self.count += count;
    }
}

impl Categories {
    /// The same as [`Categories::bytes_at`] for each of some ascending moments. It reads every allocation once, however many
    /// of them are live.
    pub fn bytes_over(&self, timeline: &Timeline, moments: &[Moment]) -> Vec<Vec<CategoryBytes>> {
        debug_assert!(moments.is_sorted(), "moments ascend");
        let lifetimes = &timeline.lifetimes;
        let mut changes = vec![[Change::default(); Category::ALL.len()]; moments.len() + 1];
        let mut first = 0;
        for id in (0..lifetimes.len() as u32).map(AllocId) {
            // Allocations are in the order of their start.
            while moments.get(first).is_some_and(|&moment| moment < lifetimes.start(id)) {
                first += 1;
            }
            let end = lifetimes.end(id);
            let gone = end.map_or(moments.len(), |end| moments.partition_point(|&moment| moment < end));
            if gone <= first {
                continue;
            }
            let verdict = self.verdict(id);
            let (at, is_inferred) = (verdict.category as usize, verdict.basis() == Basis::Inferred);
            changes[first][at].add(timeline.size(id), is_inferred, 1);
            changes[gone][at].add(timeline.size(id), is_inferred, -1);
        }
        changes.truncate(moments.len());
        summed(&changes)
    }
}

/// The totals after each of the changes; categories without bytes are left out.
fn summed(changes: &[[Change; Category::ALL.len()]]) -> Vec<Vec<CategoryBytes>> {
    let mut totals = [Change::default(); Category::ALL.len()];
    let row = |changes: &[Change; Category::ALL.len()]| {
        for (total, change) in totals.iter_mut().zip(changes) {
            total.bytes += change.bytes;
            total.inferred_bytes += change.inferred_bytes;
            total.count += change.count;
        }
        let bytes = |(category, total): (Category, &Change)| CategoryBytes {
            category,
            bytes: Bytes::clamped(total.bytes),
            inferred_bytes: Bytes::clamped(total.inferred_bytes),
            count: usize::try_from(total.count).unwrap_or_default(),
        };
        Category::ALL.into_iter().zip(&totals).map(bytes).filter(|of| of.bytes != 0).collect()
    };
    changes.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Attribution, UserRules};
    use oomscope_fixtures::first;
    use oomscope_snapshot::load::{Input, Progress, load};

    #[test]
    fn one_pass_finds_what_is_live_at_each_moment() {
        for name in ["frag_oom.pickle", "gpt_oom_forward.pickle", "late_start.pickle.gz"] {
            let path =
                std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample_snapshots").join(name);
            let recording = first(load(&Input::File(path), &Progress::default()).expect("a sample"));
            let categories = Attribution::of(&recording, &UserRules::default()).categories;
            let moments: Vec<Moment> = (0..recording.moments() as u32).step_by(97).map(Moment).collect();
            let each: Vec<_> = moments.iter().map(|&at| categories.bytes_at(&recording, at)).collect();
            assert_eq!(categories.bytes_over(&recording, &moments), each, "{name}");
            for (moment, of) in moments.iter().zip(&each) {
                let sum: Bytes = of.iter().map(|of| of.bytes).sum();
                assert_eq!(sum, recording.active.at(*moment), "{name} at {moment:?}");
            }
        }
    }

    #[test]
    fn without_moments_there_is_nothing_to_say() {
        let timeline = oomscope_model::Timeline::build(oomscope_model::TimelineInput {
            device: oomscope_model::DeviceId(0),
            events: oomscope_model::EventTable::default(),
            segments: oomscope_model::SegmentTable::default(),
            anchor: oomscope_model::Anchor::EndState,
        });
        let categories = Categories::default();
        assert!(categories.bytes_over(&timeline, &[]).is_empty());
        assert_eq!(categories.bytes_over(&timeline, &[Moment::START]), [Vec::new()]);
    }
}
