//! The rows of colours by stack: those that hold most at the peak, so that their order is the same at all moments.

use super::rows::{LegendRow, Live, Source};
use foldhash::HashMap;
use oomscope_analysis::filter::quoted;
use oomscope_analysis::site_label;
use oomscope_model::{AllocId, Bytes, Moment, StackId};
use tr::tr;

/// Stacks with a row of their own: more do not fit beside the totals.
const LISTED: usize = 8;

impl Source<'_> {
    /// The stacks that hold most with their colours, and all others.
    pub(super) fn stacks(&self, moment: Moment) -> Vec<LegendRow> {
        let listed = self.largest_stacks();
        let mut sums = vec![Live::default(); listed.len() + 1];
        for id in self.live(moment) {
            let stack = self.recording.stack(id);
            let at = listed.iter().position(|&(listed, _)| listed == stack).unwrap_or(listed.len());
            sums[at].bytes += self.recording.size(id);
            sums[at].blocks += 1;
        }
        let others = sums.pop().unwrap_or_default();
        let row = |(&(stack, first), live): (&(StackId, AllocId), Live)| {
            let label = site_label(self.recording.snapshot(), stack);
            LegendRow {
                query: Some(format!("site:{}", quoted(&label))),
                label,
                color: Some(self.coloring.color(self.recording, first)),
                live: Some(live),
            }
        };
        let mut rows: Vec<LegendRow> = listed.iter().zip(sums).map(row).collect();
        let label = tr!("other stacks");
        rows.push(LegendRow { label, color: None, query: None, live: Some(others) });
        rows
    }

    /// The stacks that hold most at the peak, the largest first, each with one of its allocations.
    fn largest_stacks(&self) -> Vec<(StackId, AllocId)> {
        let mut sums: HashMap<StackId, (Bytes, AllocId)> = HashMap::default();
        for id in self.recording.lifetimes.live_at(self.recording.active.peak().0) {
            sums.entry(self.recording.stack(id)).or_insert((Bytes::ZERO, id)).0 += self.recording.size(id);
        }
        let mut all: Vec<(StackId, (Bytes, AllocId))> = sums.into_iter().collect();
        all.sort_unstable_by_key(|&(stack, (bytes, _))| (std::cmp::Reverse(bytes), stack));
        all.into_iter().take(LISTED).map(|(stack, (_, id))| (stack, id)).collect()
    }
}
