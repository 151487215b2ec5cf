//! The statistics by the keys of `torch.cuda.memory_stats()`.

use super::{Figures, METRICS, MemorySummary, OVERSIZE, Shown};
use serde::Serialize;
use std::collections::BTreeMap;

/// The allocator's statistics at a moment, for JSON.
#[derive(Debug, Serialize)]
pub(crate) struct SummaryRecord {
    /// The event before the moment; -1 for the state before the first.
    event: i64,
    /// Why figures are bounds or missing; null if all are exact.
    limits: Option<&'static str>,
    /// Each figure by its key; null where it is not known.
    memory_stats: BTreeMap<String, Option<u64>>,
    /// The keys of figures that are lower bounds.
    at_least: Vec<String>,
}

impl SummaryRecord {
    /// The statistics of a summary.
    pub(crate) fn of(summary: &MemorySummary) -> Self {
        let statistics = &summary.statistics;
        let mut out = Self {
            event: i64::from(summary.moment.0) - 1,
            limits: summary.limits(),
            memory_stats: BTreeMap::new(),
            at_least: Vec::new(),
        };
        let sizes =
            [("all", &statistics.all), ("large_pool", &statistics.large), ("small_pool", &statistics.small)];
        for metric in &METRICS {
            for (size, counters) in sizes {
                out.add_figures(&format!("{}.{size}", metric.key), summary.figures(metric, counters));
            }
        }
        for metric in &OVERSIZE {
            out.add_figures(metric.key, summary.figures(metric, &statistics.all));
        }
        out.add("num_ooms".to_owned(), summary.count(statistics.all.num_ooms));
        out.add("num_alloc_retries".to_owned(), summary.count(statistics.all.num_alloc_retries));
        out
    }

    fn add_figures(&mut self, key: &str, figures: Figures) {
        let Figures { current, peak, allocated, freed } = figures;
        for (name, shown) in
            [("current", current), ("peak", peak), ("allocated", allocated), ("freed", freed)]
        {
            self.add(format!("{key}.{name}"), shown);
        }
    }

    fn add(&mut self, key: String, shown: Shown) {
        if matches!(shown, Shown::AtLeast(_)) {
            self.at_least.push(key.clone());
        }
        self.memory_stats.insert(key, shown.value());
    }
}
