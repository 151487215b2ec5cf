//! Memory that inference fills piece by piece and reads as a whole each time, as a cache of keys and values in a list.

use super::by_source::FromSource;
use super::source::Source;
use crate::diagnosis::case::Case;
use crate::diagnosis::numbers::SEVERAL;
use crate::model::StackId;
use foldhash::{HashMap, HashSet};

/// Number of repetitions that are compared, the last of which may have failed.
const COMPARED: usize = 6;

/// The sources whose blocks have the size by which some other allocation has grown in each of the last repetitions: all
/// pieces were put together again each time. In training, nothing needs the pieces of earlier iterations.
pub(super) fn read_again(
    case: &Case<'_>,
    by_source: &HashMap<Source, FromSource<'_>>,
    current: usize,
) -> HashSet<Source> {
    if by_source.is_empty() || case.trains() {
        return HashSet::default();
    }
    let rises = rises(case, current);
    let is_read = |from: &FromSource<'_>| from.allocations.iter().all(|a| rises.contains(&a.size));
    by_source.iter().filter(|(_, from)| is_read(from)).map(|(&source, _)| source).collect()
}

/// The amounts by which allocations of one stack have grown in each of the last repetitions.
fn rises(case: &Case<'_>, current: usize) -> HashSet<i64> {
    let timeline = case.timeline;
    let first = current.saturating_sub(COMPARED);
    let Some(start) = case.repetitions.start(first) else { return HashSet::default() };
    let mut largest: HashMap<StackId, Vec<(usize, i64)>> = HashMap::default();
    let ids = timeline.ids().rev().map(|id| (id, timeline.lifetimes.start(id)));
    let ids = ids.skip_while(|(_, at)| case.moment < *at).take_while(|(_, at)| start.0 < at.0);
    for (id, at) in ids {
        let Some(index) = case.repetitions.index_at(at) else { continue };
        let sizes = largest.entry(timeline.stack(id)).or_default();
        match sizes.last_mut().filter(|(last, _)| *last == index) {
            Some((_, size)) => *size = timeline.size(id).max(*size),
            None => sizes.push((index, timeline.size(id))),
        }
    }
    largest.into_values().filter_map(|sizes| rise(&sizes)).collect()
}

/// The amount by which sizes have risen each time; the latest is first.
fn rise(sizes: &[(usize, i64)]) -> Option<i64> {
    let mut rises = sizes.windows(2).map(|pair| pair[0].1.saturating_sub(pair[1].1));
    let first = rises.next().filter(|&rise| 0 < rise)?;
    (rises.take_while(|&rise| rise == first).count() + 1 >= SEVERAL).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::rise;

    #[test]
    fn only_a_steady_rise_counts() {
        assert_eq!(rise(&[(5, 50), (4, 40), (3, 30), (2, 20)]), Some(10));
        assert_eq!(rise(&[(5, 50), (4, 40), (3, 30)]), None);
        assert_eq!(rise(&[(5, 50), (4, 40), (3, 35), (2, 20)]), None);
        assert_eq!(rise(&[(5, 20), (4, 20), (3, 20), (2, 20)]), None);
    }
}
