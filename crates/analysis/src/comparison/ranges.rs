//! The annotated ranges that two recordings have under the same names.

use super::side::Side;
use crate::MomentRange;
use crate::lanes::annotation_ranges;
use oomscope_model::Moment;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The ranges of one name on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommonRange {
    /// The name that the program or a profiler gave them. It may contain control characters.
    pub name: String,
    /// The ranges of either side, in the order in which they start.
    pub ranges: [Arc<[MomentRange]>; 2],
}

/// The annotations that both recordings have, in the order in which the second first starts them.
///
/// Those without events on a side are left out, as are ranges whose start was not recorded: where they began is unknown.
pub fn common_ranges(sides: [&Side<'_>; 2]) -> Vec<CommonRange> {
    let [mut a, b] = sides.map(by_name);
    let pairs = b.into_iter().filter_map(|(name, b)| {
        let ranges = [a.remove(&name)?, b];
        let is_seen = ranges.iter().all(|ranges| has_events(ranges));
        is_seen.then(|| CommonRange { name, ranges: ranges.map(Arc::from) })
    });
    let mut common: Vec<CommonRange> = pairs.collect();
    common.sort_by_key(|common| common.ranges[1].first().map(|range| range.from));
    common
}

fn by_name(side: &Side<'_>) -> BTreeMap<String, Vec<MomentRange>> {
    let mut by_name: BTreeMap<String, Vec<MomentRange>> = BTreeMap::new();
    for range in annotation_ranges(side.recording).into_iter().filter(|range| range.has_ends[0]) {
        // A named range begins after its first event, and a range of moments before it.
        let [from, to] = range.moments.map(|moment| Moment(moment.0.saturating_sub(1)));
        let name = range.name.text(side.recording.snapshot()).into_owned();
        by_name.entry(name).or_default().push(MomentRange { from, to });
    }
    for ranges in by_name.values_mut() {
        ranges.sort_by_key(|range| (range.from, range.to));
    }
    by_name
}

/// Whether there is an event from the first start to the last end.
fn has_events(ranges: &[MomentRange]) -> bool {
    let first = ranges.iter().map(|range| range.from).min();
    first < ranges.iter().map(|range| range.to).max()
}
