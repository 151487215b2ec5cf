//! Allocations in the order of one of their properties.

use super::LifeSpan;
use crate::{Categories, StackLabels, TensorLabels};
use oomscope_model::{AllocId, Moment, PoolKey, Timeline};
use rayon::prelude::*;

/// Below this number of allocations, starting tasks takes longer than sorting.
const MIN_PARALLEL: usize = 1 << 15;

/// Longest span that is told from longer ones, in microseconds (some 70,000 years) or events: spans then take
/// 62 bits of a key and leave the top bit free.
const LONGEST: i64 = 1 << 61;

/// The property by which allocations are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OrderBy {
    /// The moment of their allocation.
    Start,
    /// Their age: the reverse of [`Start`](Self::Start).
    Age,
    /// Requested bytes.
    Size,
    /// Their lifetime: the closed [`LifeSpan`]s by length, then the open ones.
    Lifetime,
    /// The address.
    Address,
    /// The stream; unknown ones come first.
    Stream,
    /// The pool; unknown ones come first.
    Pool,
    /// The label of the site, in alphabetical order.
    Site,
    /// The category, in the order of [`Category::ALL`](crate::Category::ALL).
    Category,
    /// The module, in alphabetical order; unknown ones come last.
    Module,
    /// The label of its tensor, in alphabetical order; those without one come last.
    Tensor,
}

/// Sorts the allocations of one timeline. Equal ones stay in allocation order.
#[derive(Debug, Clone, Copy)]
pub struct AllocationSorter<'a> {
    timeline: &'a Timeline,
    labels: Option<&'a StackLabels>,
    categories: Option<&'a Categories>,
    tensors: Option<&'a TensorLabels>,
}

impl<'a> AllocationSorter<'a> {
    /// A sorter for a timeline of a file.
    pub fn new(timeline: &'a Timeline) -> Self {
        Self { timeline, labels: None, categories: None, tensors: None }
    }

    /// The same with labels of the file's stacks, for the orders by site and by module. Without, all are equal.
    #[must_use]
    pub fn with_labels(self, labels: &'a StackLabels) -> Self {
        Self { labels: Some(labels), ..self }
    }

    /// The same with categories, for the order by category. Without, all are equal.
    #[must_use]
    pub fn with_categories(self, categories: &'a Categories) -> Self {
        Self { categories: Some(categories), ..self }
    }

    /// The same with the labels of tensors, for the order by tensor. Without, all are equal.
    #[must_use]
    pub fn with_tensors(self, tensors: &'a TensorLabels) -> Self {
        Self { tensors: Some(tensors), ..self }
    }

    /// All allocations, lowest first. This takes about 30 ns for each.
    pub fn all(self, by: OrderBy) -> Vec<AllocId> {
        self.sort(self.timeline.ids().collect(), by)
    }

    /// The allocations that are live at a moment, lowest first.
    pub fn live_at(self, moment: Moment, by: OrderBy) -> Vec<AllocId> {
        self.sort(self.timeline.lifetimes.live_at(moment).collect(), by)
    }

    /// Sort allocations, which are given in allocation order.
    pub fn sort(self, mut ids: Vec<AllocId>, by: OrderBy) -> Vec<AllocId> {
        debug_assert!(ids.is_sorted(), "the order by start, and among equals, is that of the input");
        // Ids break ties in `keyed`, so that an unstable sort, which is faster, keeps allocation order.
        let keys = Keys::new(self, by);
        match by {
            OrderBy::Start => {}
            OrderBy::Age => ids.reverse(),
            _ if ids.len() < MIN_PARALLEL => {
                let mut keyed: Vec<(u64, AllocId)> = ids.iter().map(|&id| (keys.key(id), id)).collect();
                keyed.sort_unstable();
                ids.iter_mut().zip(keyed).for_each(|(slot, (_, id))| *slot = id);
            }
            _ => {
                let mut keyed: Vec<(u64, AllocId)> = ids.par_iter().map(|&id| (keys.key(id), id)).collect();
                keyed.par_sort_unstable();
                ids.par_iter_mut().zip(keyed).for_each(|(slot, (_, id))| *slot = id);
            }
        }
        ids
    }
}

/// The key of every allocation in an order.
struct Keys<'a> {
    sorter: AllocationSorter<'a>,
    by: OrderBy,
    /// The streams of the timeline, ascending, for the order by stream; else empty.
    streams: Vec<i64>,
    /// The pools of the timeline, ascending, for the order by pool; else empty.
    pools: Vec<PoolKey>,
    /// True if the timeline has times, so that life spans are in microseconds.
    has_times: bool,
}

impl<'a> Keys<'a> {
    fn new(sorter: AllocationSorter<'a>, by: OrderBy) -> Self {
        let timeline = sorter.timeline;
        let streams = if by == OrderBy::Stream { timeline.streams() } else { Vec::new() };
        let pools = if by == OrderBy::Pool { timeline.pools() } else { Vec::new() };
        Self { sorter, by, streams, pools, has_times: timeline.times.has_times() }
    }

    /// A number that grows with the property.
    #[inline]
    fn key(&self, id: AllocId) -> u64 {
        let AllocationSorter { timeline, labels, categories, tensors } = self.sorter;
        match self.by {
            OrderBy::Start => u64::from(timeline.lifetimes.start(id).0),
            OrderBy::Age => u64::from(u32::MAX - timeline.lifetimes.start(id).0),
            OrderBy::Size => ascending(timeline.size(id).0),
            OrderBy::Lifetime => self.lifetime_key(id),
            OrderBy::Address => timeline.allocation(id).addr,
            OrderBy::Stream => place(&self.streams, timeline.allocation(id).stream),
            OrderBy::Pool => place(&self.pools, timeline.allocation(id).pool),
            OrderBy::Site | OrderBy::Module => {
                labels.map_or(0, |labels| labels.rank(timeline.stack(id)).into())
            }
            OrderBy::Category => categories.map_or(0, |all| all.verdict(id).category as u64),
            OrderBy::Tensor => tensors.map_or(0, |tensors| tensors.rank(id)),
        }
    }

    /// The length of an allocation's life, in events if the recording has no times. The top bit is set
    /// for open spans.
    fn lifetime_key(&self, id: AllocId) -> u64 {
        let span = LifeSpan::of(self.sorter.timeline, id);
        let length = if self.has_times { span.us.unwrap_or(0) } else { i64::from(span.events) };
        (u64::from(span.is_open) << 63) | (length.clamp(-LONGEST, LONGEST) + LONGEST).cast_unsigned()
    }
}

/// A signed number as an unsigned one, in the same order.
fn ascending(signed: i64) -> u64 {
    signed.cast_unsigned() ^ (1 << 63)
}

/// The place of a value in a sorted list, from 1; 0 for `None`.
fn place<T: Ord>(sorted: &[T], value: Option<T>) -> u64 {
    debug_assert!(sorted.is_sorted(), "places are those of a sorted list");
    value.map_or(0, |value| sorted.partition_point(|other| *other < value) as u64 + 1)
}

#[cfg(test)]
#[path = "allocation_order_tests.rs"]
mod tests;
