//! Totals of allocations by stack: live at a moment, allocated between two moments, bytes multiplied by the
//! time that they were held, or the difference between two moments.

use crate::Clock;
use oomscope_model::{AllocId, Bytes, Moment, Recording, StackId, Timeline};

/// Stands for a stack without a row.
const NONE: u32 = u32::MAX;

/// The measure by which stacks are weighed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Requested bytes that are live at a moment.
    Live {
        /// The moment.
        at: Moment,
    },
    /// Requested bytes that were allocated between two moments, whether or not they were freed again.
    Allocated {
        /// The state before the first of these events.
        after: Moment,
        /// The state after the last of them.
        until: Moment,
    },
    /// Live bytes at a later moment less those at an earlier one, of the stacks that have more then. Counts and lifetimes
    /// are of the allocations between the moments that are live at the later one.
    Grown {
        /// The earlier moment.
        from: Moment,
        /// The later one.
        to: Moment,
    },
    /// Live bytes at an earlier moment less those at a later one, of the stacks that have less then. Counts and lifetimes
    /// are of the allocations that are live at the earlier moment and no more at the later one.
    Shrunk {
        /// The earlier moment.
        from: Moment,
        /// The later one.
        to: Moment,
    },
    /// Requested bytes multiplied by the time that they were live between two moments.
    ByteTime {
        /// The first moment.
        from: Moment,
        /// The last moment.
        to: Moment,
    },
}

impl Measure {
    /// True if a stack has the difference of two weights, and only stacks with more than nothing count.
    fn is_difference(self) -> bool {
        matches!(self, Self::Grown { .. } | Self::Shrunk { .. })
    }
}

/// The unit of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WeightUnit {
    /// Bytes.
    Bytes,
    /// Bytes times microseconds.
    ByteMicros,
    /// Bytes times events, where times were not recorded.
    ByteEvents,
}

/// Totals of some allocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Their weight, in the measure's unit.
    pub weight: i128,
    /// Their requested bytes.
    pub bytes: Bytes,
    /// Their number.
    pub count: u64,
    /// Requested bytes of the largest.
    pub largest: Bytes,
    /// Sum of their recorded lifetimes, in the clock's unit.
    pub lifetime: i128,
    /// Number of those that began before the recording or survived it, and so lived longer than recorded.
    pub open_ended: u64,
}

impl Totals {
    /// Their mean recorded lifetime, in the clock's unit; a lower bound if some are open-ended.
    pub fn mean_lifetime(&self) -> i64 {
        let mean = self.lifetime.checked_div(i128::from(self.count)).unwrap_or(0);
        i64::try_from(mean).unwrap_or(i64::MAX)
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.weight = self.weight.saturating_add(other.weight);
        self.bytes += other.bytes;
        self.largest = if self.count == 0 { other.largest } else { self.largest.max(other.largest) };
        self.count += other.count;
        self.lifetime = self.lifetime.saturating_add(other.lifetime);
        self.open_ended += other.open_ended;
    }
}

/// The totals of one stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackTotal {
    /// The stack.
    pub stack: StackId,
    /// The totals of its allocations.
    pub totals: Totals,
}

/// The totals of all stacks by a measure.
#[derive(Debug, Clone)]
pub struct StackTotals {
    /// The unit of the weights.
    pub unit: WeightUnit,
    /// The stacks with which anything was allocated, ascending.
    pub stacks: Vec<StackTotal>,
    /// The totals of all allocations.
    pub all: Totals,
}

impl StackTotals {
    /// The weights by stack, for [`CallTree::inclusive`](super::CallTree::inclusive).
    pub fn weights(&self) -> impl Iterator<Item = (StackId, i128)> + '_ {
        self.stacks.iter().map(|row| (row.stack, row.totals.weight))
    }

    /// The totals of a stack; zeros if nothing was allocated with it.
    pub fn of(&self, stack: StackId) -> Totals {
        let at = self.stacks.binary_search_by_key(&stack, |row| row.stack);
        at.map_or_else(|_| Totals::default(), |at| self.stacks[at].totals)
    }

    /// The totals of all wanted stacks, and the heaviest of these stacks.
    pub fn of_all(&self, is_wanted: impl Fn(StackId) -> bool) -> (Totals, Option<StackId>) {
        let (mut totals, mut heaviest) = (Totals::default(), None);
        for row in self.stacks.iter().filter(|row| is_wanted(row.stack)) {
            totals.add(&row.totals);
            if heaviest.is_none_or(|(weight, _)| weight < row.totals.weight) {
                heaviest = Some((row.totals.weight, row.stack));
            }
        }
        (totals, heaviest.map(|(_, stack)| stack))
    }
}

/// Weigh every stack by a measure. Only the allocations that `keep` chooses count.
pub fn stack_totals(
    recording: &Recording,
    clock: Clock,
    measure: Measure,
    keep: impl Fn(AllocId) -> bool,
) -> StackTotals {
    let mut sum = Sum {
        timeline: recording,
        clock,
        last: recording.end(),
        slots: vec![NONE; recording.snapshot().stacks.len()],
        rows: Vec::new(),
    };
    let unit = each_weight(recording, clock, measure, keep, |id, weight| {
        if measure.is_difference() && weight < 0 { sum.take(id, weight) } else { sum.add(id, weight) }
    });
    if measure.is_difference() {
        sum.leave_differences();
    }
    let mut stacks = sum.rows;
    stacks.sort_unstable_by_key(|row| row.stack);
    let mut all = Totals::default();
    for row in &stacks {
        all.add(&row.totals);
    }
    StackTotals { unit, stacks, all }
}

/// The weight of a stack's allocations of one class, such as a category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassWeight {
    /// The stack.
    pub stack: StackId,
    /// The class, as the caller numbers them.
    pub class: u8,
    /// The weight.
    pub weight: i128,
}

/// Weigh every stack by a measure, as [`stack_totals`] does, apart for each class of allocations. A stack has mostly
/// one class, and never more than 256.
pub fn class_weights(
    recording: &Recording,
    clock: Clock,
    measure: Measure,
    keep: impl Fn(AllocId) -> bool,
    class: impl Fn(AllocId) -> u8,
) -> Vec<ClassWeight> {
    let (snapshot, timeline) = (recording.snapshot(), recording.timeline());
    // Rows of a stack are a chain from the one that came last.
    let mut last = vec![NONE; snapshot.stacks.len()];
    let mut rows: Vec<(ClassWeight, u32)> = Vec::new();
    each_weight(recording, clock, measure, keep, |id, weight| {
        let (stack, class) = (timeline.stack(id), class(id));
        let mut at = last[stack.index()];
        while at != NONE && rows[at as usize].0.class != class {
            at = rows[at as usize].1;
        }
        if at == NONE {
            at = rows.len() as u32;
            rows.push((ClassWeight { stack, class, weight: 0 }, last[stack.index()]));
            last[stack.index()] = at;
        }
        let sum = &mut rows[at as usize].0.weight;
        *sum = sum.saturating_add(weight);
    });
    let mut rows: Vec<ClassWeight> = rows.into_iter().map(|(row, _)| row).collect();
    if measure.is_difference() {
        let mut left = vec![0i128; snapshot.stacks.len()];
        for row in &rows {
            left[row.stack.index()] = left[row.stack.index()].saturating_add(row.weight);
        }
        rows.retain(|row| 0 < left[row.stack.index()]);
    }
    rows
}

/// Visit the allocations that a measure counts, with the weight of each.
fn each_weight(
    timeline: &Timeline,
    clock: Clock,
    measure: Measure,
    keep: impl Fn(AllocId) -> bool,
    mut visit: impl FnMut(AllocId, i128),
) -> WeightUnit {
    let lifetimes = &timeline.lifetimes;
    match measure {
        Measure::Live { at } => {
            let live = lifetimes.live_at(at).filter(|&id| keep(id));
            live.for_each(|id| visit(id, timeline.size(id).into()));
            WeightUnit::Bytes
        }
        Measure::Allocated { after, until } => {
            let (after, until) = (after.min(until), after.max(until));
            let made = lifetimes.started_between(after, until).filter(|&id| keep(id));
            made.for_each(|id| visit(id, timeline.size(id).into()));
            WeightUnit::Bytes
        }
        Measure::Grown { from, to } | Measure::Shrunk { from, to } => {
            let is_live = |id| lifetimes.end(id).is_none_or(|end| to < end);
            let made = lifetimes.started_between(from, to).filter(|&id| keep(id) && is_live(id));
            let gone = lifetimes.live_at(from).filter(|&id| keep(id) && !is_live(id));
            let size = |id| i128::from(timeline.size(id));
            // What adds comes first.
            if matches!(measure, Measure::Grown { .. }) {
                made.for_each(|id| visit(id, size(id)));
                gone.for_each(|id| visit(id, -size(id)));
            } else {
                gone.for_each(|id| visit(id, size(id)));
                made.for_each(|id| visit(id, -size(id)));
            }
            WeightUnit::Bytes
        }
        Measure::ByteTime { from, to } => {
            let (from, to) = (from.min(to), from.max(to));
            let last = timeline.end();
            let live = lifetimes.live_between(from, to).filter(|&id| keep(id));
            live.for_each(|id| {
                let start = lifetimes.start(id).max(from);
                let end = lifetimes.end(id).unwrap_or(last).min(to);
                let held = i128::from(clock.between(timeline, start, end));
                visit(id, i128::from(timeline.size(id)).saturating_mul(held));
            });
            if clock.has_times() { WeightUnit::ByteMicros } else { WeightUnit::ByteEvents }
        }
    }
}

/// The totals of stacks so far.
struct Sum<'a> {
    timeline: &'a Timeline,
    clock: Clock,
    /// The last moment of the timeline.
    last: Moment,
    /// Index into `rows` by stack; [`NONE`] for stacks without a row.
    slots: Vec<u32>,
    rows: Vec<StackTotal>,
}

impl Sum<'_> {
    /// Take the weight of an allocation away from its stack, if that has a row.
    fn take(&mut self, id: AllocId, weight: i128) {
        let slot = self.slots[self.timeline.stack(id).index()];
        if let Some(row) = self.rows.get_mut(slot as usize) {
            row.totals.weight = row.totals.weight.saturating_add(weight);
        }
    }

    /// Keep the stacks whose weight is left, of which the difference counts.
    fn leave_differences(&mut self) {
        self.rows.retain(|row| 0 < row.totals.weight);
        for row in &mut self.rows {
            row.totals.bytes = Bytes::clamped(row.totals.weight);
        }
    }

    fn add(&mut self, id: AllocId, weight: i128) {
        let (timeline, lifetimes) = (self.timeline, &self.timeline.lifetimes);
        let (size, stack) = (timeline.size(id), timeline.stack(id));
        let (start, end) = (lifetimes.start(id), lifetimes.end(id));
        let lifetime = self.clock.between(self.timeline, start, end.unwrap_or(self.last));
        let one = Totals {
            weight,
            bytes: size,
            count: 1,
            largest: size,
            lifetime: i128::from(lifetime),
            open_ended: u64::from(end.is_none() || start == Moment::START),
        };
        let slot = &mut self.slots[stack.index()];
        if *slot == NONE {
            *slot = self.rows.len() as u32;
            self.rows.push(StackTotal { stack, totals: Totals::default() });
        }
        self.rows[*slot as usize].totals.add(&one);
    }
}

#[cfg(test)]
#[path = "stack_totals_tests.rs"]
mod tests;
