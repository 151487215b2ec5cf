//! What fills the memory at a moment, by the code that allocated it.

use crate::analysis::filter::Matches;
use crate::analysis::{live_at, site_label, sites};
use crate::model::{AllocId, Moment, Snapshot, StackId, Timeline};
use foldhash::HashMap;
use std::sync::Arc;

/// Rows that are kept.
const MAX_ROWS: usize = 40;

/// Sites by bytes at a moment.
pub(in crate::app) struct Contributors {
    moment: Moment,
    /// Live blocks that the filter lets through, and their bytes.
    pub(in crate::app) blocks: usize,
    pub(in crate::app) bytes: i64,
    /// The filter's result that this is for.
    matches: Option<Arc<Matches>>,
    /// The largest sites.
    pub(in crate::app) rows: Vec<SiteRow>,
    /// Sites that are not in `rows`.
    pub(in crate::app) more: usize,
}

/// One site.
pub(in crate::app) struct SiteRow {
    /// `train.py:55 attention`.
    pub(in crate::app) label: String,
    /// Bytes that are live.
    pub(in crate::app) bytes: i64,
    /// Blocks that are live.
    pub(in crate::app) blocks: usize,
    /// One of its stacks: the one with most bytes.
    pub(in crate::app) stack: StackId,
    /// Its largest block.
    pub(in crate::app) largest: AllocId,
}

impl Contributors {
    pub(in crate::app) fn new(
        snapshot: &Snapshot,
        timeline: &Timeline,
        moment: Moment,
        matches: Option<Arc<Matches>>,
    ) -> Self {
        let mut live = live_at(timeline, moment);
        live.retain(|allocation| matches.as_ref().is_none_or(|matches| matches.contains(allocation.id)));
        let mut largest: HashMap<StackId, AllocId> = HashMap::default();
        for allocation in &live {
            largest.entry(allocation.stack).or_insert(allocation.id);
        }
        let mut rows: Vec<SiteRow> = Vec::new();
        let mut at: HashMap<String, usize> = HashMap::default();
        for site in sites(&live) {
            let label = site_label(snapshot, site.stack);
            let Some(&largest) = largest.get(&site.stack) else { continue };
            if let Some(&row) = at.get(&label) {
                let row = &mut rows[row];
                if timeline.lifetimes.size(row.largest, &timeline.events) < site.largest {
                    row.largest = largest;
                }
                row.bytes = row.bytes.saturating_add(site.bytes);
                row.blocks += site.count;
            } else {
                at.insert(label.clone(), rows.len());
                rows.push(SiteRow {
                    label,
                    bytes: site.bytes,
                    blocks: site.count,
                    stack: site.stack,
                    largest,
                });
            }
        }
        rows.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.label.cmp(&b.label)));
        let more = rows.len().saturating_sub(MAX_ROWS);
        rows.truncate(MAX_ROWS);
        let bytes = live.iter().fold(0, |sum: i64, allocation| sum.saturating_add(allocation.size));
        Self { moment, blocks: live.len(), bytes, matches, rows, more }
    }

    /// Whether this is what is there at a moment with a filter.
    pub(in crate::app) fn answers(&self, moment: Moment, matches: Option<&Arc<Matches>>) -> bool {
        self.moment == moment && self.matches.as_ref().map(Arc::as_ptr) == matches.map(Arc::as_ptr)
    }
}
