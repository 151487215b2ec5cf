//! The largest contributors to the memory at a moment, by the code that allocated it.

use foldhash::HashMap;
use oomscope_analysis::filter::Matches;
use oomscope_analysis::{StackLabels, site_label};
use oomscope_model::{AllocId, Bytes, Moment, Recording, StackId, Timeline};
use std::hash::Hash;

/// Sites that are listed: the rest is too small to matter.
const MAX_ROWS: usize = 40;

/// Sites by bytes at a moment.
pub(crate) struct Contributors {
    /// Live blocks that the filter lets through, and their bytes.
    pub(crate) blocks: usize,
    pub(crate) bytes: Bytes,
    /// The largest sites.
    pub(crate) rows: Vec<SiteRow>,
    /// The number of sites that are not in `rows`.
    pub(crate) more: usize,
}

/// One site.
pub(crate) struct SiteRow {
    /// `train.py:55 attention`.
    pub(crate) label: String,
    /// Bytes that are live.
    pub(crate) bytes: Bytes,
    /// Blocks that are live.
    pub(crate) blocks: usize,
    /// One of its stacks: the one with most bytes.
    pub(crate) stack: StackId,
    /// One of its allocations with that stack, for its colour.
    pub(crate) example: AllocId,
}

/// The live blocks of a stack, a site or a category.
#[derive(Clone, Copy, Default)]
struct Live {
    bytes: Bytes,
    blocks: usize,
    /// The first of its allocations.
    first: Option<AllocId>,
}

/// The stacks of one site: together, and the one with most bytes.
struct Site {
    all: Live,
    stack: StackId,
    most: Bytes,
    example: Option<AllocId>,
}

impl Contributors {
    /// Sum up a moment. Without `labels`, it takes longer: the label of every live stack is put together.
    pub(crate) fn new(
        recording: &Recording,
        moment: Moment,
        matches: Option<&Matches>,
        labels: Option<&StackLabels>,
    ) -> Self {
        let snapshot = recording.snapshot();
        let stacks = by_stack(recording, moment, matches);
        let all = stacks.iter().fold(Live::default(), |sum, (_, live)| sum.and(*live));
        let mut sites = match labels {
            Some(labels) => by_site(&stacks, |stack| labels.rank(stack)),
            None => by_site(&stacks, |stack| site_label(snapshot, stack)),
        };
        let label = |site: &Site| site_label(snapshot, site.stack);
        let order = |a: &Site, b: &Site| {
            b.all.bytes.cmp(&a.all.bytes).then_with(|| label(a).cmp(&label(b))).then(a.stack.cmp(&b.stack))
        };
        // Only the largest are put in order: there may be very many sites.
        let more = sites.len().saturating_sub(MAX_ROWS);
        if more != 0 {
            sites.select_nth_unstable_by(MAX_ROWS, order);
            sites.truncate(MAX_ROWS);
        }
        sites.sort_unstable_by(order);
        let row = |site: &Site| SiteRow {
            label: label(site),
            bytes: site.all.bytes,
            blocks: site.all.blocks,
            stack: site.stack,
            example: site.example.unwrap_or(AllocId(0)),
        };
        let rows = sites.iter().map(row).collect();
        debug_assert!(sites.len() <= MAX_ROWS);
        Self { blocks: all.blocks, bytes: all.bytes, rows, more }
    }
}

/// The live allocations that pass the filter.
fn live<'a>(
    timeline: &'a Timeline,
    moment: Moment,
    matches: Option<&'a Matches>,
) -> impl Iterator<Item = AllocId> + 'a {
    let live = timeline.lifetimes.live_at(moment);
    live.filter(move |&id| matches.is_none_or(|matches| matches.contains(id)))
}

impl Live {
    fn and(self, other: Self) -> Self {
        let bytes = self.bytes + other.bytes;
        Self { bytes, blocks: self.blocks + other.blocks, first: self.first.or(other.first) }
    }
}

/// Live blocks by stack, in the order in which the stacks were met.
fn by_stack(timeline: &Timeline, moment: Moment, matches: Option<&Matches>) -> Vec<(StackId, Live)> {
    let mut places: HashMap<StackId, usize> = HashMap::default();
    let mut stacks: Vec<(StackId, Live)> = Vec::new();
    for id in live(timeline, moment, matches) {
        let stack = timeline.stack(id);
        let place = *places.entry(stack).or_insert(stacks.len());
        if place == stacks.len() {
            stacks.push((stack, Live::default()));
        }
        let live = Live { bytes: timeline.size(id), blocks: 1, first: Some(id) };
        stacks[place].1 = stacks[place].1.and(live);
    }
    stacks
}

/// Live blocks by site: the stacks of one site have the same `site_of`.
fn by_site<K: Eq + Hash>(stacks: &[(StackId, Live)], site_of: impl Fn(StackId) -> K) -> Vec<Site> {
    let mut places: HashMap<K, usize> = HashMap::default();
    let mut sites: Vec<Site> = Vec::new();
    for &(stack, live) in stacks {
        let place = *places.entry(site_of(stack)).or_insert(sites.len());
        if place == sites.len() {
            sites.push(Site { all: Live::default(), stack, most: live.bytes, example: live.first });
        }
        let site = &mut sites[place];
        site.all = site.all.and(live);
        if site.most < live.bytes {
            (site.most, site.stack, site.example) = (live.bytes, stack, live.first);
        }
    }
    sites
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_analysis::{live_at, sites};
    use oomscope_snapshot::load::{Input, Progress, load};
    use std::collections::BTreeMap;
    use std::sync::Arc;

    /// Bytes, blocks and label of every site, most bytes first.
    fn naive(recording: &Recording, moment: Moment) -> Vec<(Bytes, usize, String)> {
        let mut totals: BTreeMap<String, (Bytes, usize)> = BTreeMap::new();
        for site in sites(&live_at(recording, moment)) {
            let total = totals.entry(site_label(recording.snapshot(), site.stack)).or_default();
            *total = (total.0 + site.bytes, total.1 + site.count);
        }
        let mut rows: Vec<_> =
            totals.into_iter().map(|(label, (bytes, blocks))| (bytes, blocks, label)).collect();
        rows.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.2.cmp(&b.2)));
        rows
    }

    #[test]
    fn rows_are_the_largest_sites_with_and_without_labels() {
        let path = crate::tests::sample("gpt_oom_forward.pickle");
        let snapshot = Arc::new(load(&Input::File(path), &Progress::default()).expect("a sample"));
        let recording = Recording::all(&snapshot).next().expect("a device");
        let labels = StackLabels::of_sites(&snapshot);
        for at in (0..recording.moments() as u32).step_by(97) {
            let expected = naive(&recording, Moment(at));
            for labels in [None, Some(&labels)] {
                let found = Contributors::new(&recording, Moment(at), None, labels);
                let rows = found.rows.iter().map(|row| (row.bytes, row.blocks, row.label.clone()));
                assert_eq!(rows.collect::<Vec<_>>(), expected[..expected.len().min(MAX_ROWS)]);
                assert_eq!(found.more, expected.len().saturating_sub(MAX_ROWS));
                assert_eq!(found.blocks, expected.iter().map(|row| row.1).sum::<usize>());
            }
        }
    }
}
