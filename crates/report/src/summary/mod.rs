//! The table of `torch.cuda.memory_summary()` as it would have read at a moment, from the replay.
//!
//! Figures are those of the program's allocator where nothing was reserved before the recording and the replay differs in nothing up to
//! the moment. Where the recording starts late, what came before is missing in peaks and totals. Where the replay differs, only what
//! the recording itself has is known.

mod json;
mod text;

pub(crate) use json::SummaryRecord;
pub use text::summary_text;

use oomscope_model::{Moment, Recording, Trust};
use oomscope_simulator::{Counters, Gauge, Statistics, Subject};

/// What is known of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// It is this.
    Exactly(u64),
    /// It is this or more.
    AtLeast(u64),
    /// It is not known.
    Unknown,
}

impl Shown {
    fn value(self) -> Option<u64> {
        match self {
            Self::Exactly(value) | Self::AtLeast(value) => Some(value),
            Self::Unknown => None,
        }
    }

    fn at_least(value: u64, is_bound: bool) -> Self {
        if is_bound { Self::AtLeast(value) } else { Self::Exactly(value) }
    }
}

/// The four figures of a statistic, in PyTorch's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Figures {
    current: Shown,
    peak: Shown,
    allocated: Shown,
    freed: Shown,
}

/// How far the replay tells the allocator's counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// It has the whole history.
    Whole,
    /// It starts late.
    Since,
    /// It differs from the recording, or the recording contradicts itself.
    Nothing,
}

/// A statistic of PyTorch's allocator.
#[derive(Debug, Clone, Copy)]
struct Metric {
    /// As `torch.cuda.memory_stats()` names it.
    key: &'static str,
    /// As `torch.cuda.memory_summary()` does.
    title: &'static str,
    is_bytes: bool,
    of: fn(&Counters) -> Gauge,
    /// What follows of blocks from before the recording, whose sizes with rounding are not all known.
    before: Before,
}

/// How far the part of a statistic that is older than the recording is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Known,
    AtLeast,
    Unknown,
}

/// The statistics of the table, in its order: those that PyTorch keeps for small and large blocks, too.
const METRICS: [Metric; 9] = [
    metric("allocated_bytes", "Allocated memory", true, |c| c.allocated_bytes, Before::AtLeast),
    metric("active_bytes", "Active memory", true, |c| c.active_bytes, Before::AtLeast),
    metric("requested_bytes", "Requested memory", true, |c| c.requested_bytes, Before::Known),
    metric("reserved_bytes", "GPU reserved memory", true, |c| c.reserved_bytes, Before::Known),
    metric(
        "inactive_split_bytes",
        "Non-releasable memory",
        true,
        |c| c.inactive_split_bytes,
        Before::Unknown,
    ),
    metric("allocation", "Allocations", false, |c| c.allocation, Before::Known),
    metric("active", "Active allocs", false, |c| c.active, Before::Known),
    metric("segment", "GPU reserved segments", false, |c| c.segment, Before::Known),
    metric("inactive_split", "Non-releasable allocs", false, |c| c.inactive_split, Before::Unknown),
];

/// Those that it only has for all memory.
const OVERSIZE: [Metric; 2] = [
    metric(
        "oversize_allocations",
        "Oversize allocations",
        false,
        |c| c.oversize_allocations,
        Before::AtLeast,
    ),
    metric("oversize_segments", "Oversize GPU segments", false, |c| c.oversize_segments, Before::Known),
];

const fn metric(
    key: &'static str,
    title: &'static str,
    is_bytes: bool,
    of: fn(&Counters) -> Gauge,
    before: Before,
) -> Metric {
    Metric { key, title, is_bytes, of, before }
}

/// The allocator's statistics at a moment.
#[derive(Debug, Clone)]
pub struct MemorySummary {
    statistics: Statistics,
    known: Known,
    moment: Moment,
    device: i64,
}

impl MemorySummary {
    /// Replay a recording up to a moment.
    pub fn at(recording: &Recording, moment: Moment) -> Self {
        Self::of(recording, &Subject::new(recording), moment)
    }

    /// The same where the recording was read for simulations already.
    pub fn of(recording: &Recording, subject: &Subject, moment: Moment) -> Self {
        let difference = subject.fidelity().first_difference;
        let differs = difference.is_some_and(|event| Moment::after(event) <= moment);
        let known = match recording.trust.in_use {
            Trust::Unknown(_) => Known::Nothing,
            _ if differs => Known::Nothing,
            Trust::AtLeast(_) => Known::Since,
            Trust::Known if subject.starts_late() => Known::Since,
            Trust::Known => Known::Whole,
        };
        let statistics = subject.statistics_at(moment);
        Self { statistics, known, moment, device: recording.device.0 }
    }

    /// Why figures are bounds or missing; `None` if all are exact.
    pub fn limits(&self) -> Option<&'static str> {
        match self.known {
            Known::Whole => None,
            Known::Since => Some(
                "memory was in use before the recording: peaks and totals are of the recording, and PyTorch's own may be more",
            ),
            Known::Nothing => Some(
                "the replay does not reproduce the recording up to here, so the allocator's own counters are not known",
            ),
        }
    }

    fn figures(&self, metric: &Metric, counters: &Counters) -> Figures {
        let gauge = (metric.of)(counters);
        let freed = gauge.allocated.saturating_sub(gauge.current);
        let [is_late, before] =
            [self.known == Known::Since, self.known == Known::Since && metric.before != Before::Known];
        if self.known == Known::Nothing || (is_late && metric.before == Before::Unknown) {
            let unknown = Shown::Unknown;
            return Figures { current: unknown, peak: unknown, allocated: unknown, freed: unknown };
        }
        Figures {
            current: Shown::at_least(gauge.current, before),
            peak: Shown::at_least(gauge.peak, is_late),
            allocated: Shown::at_least(gauge.allocated, is_late),
            freed: Shown::at_least(freed, is_late),
        }
    }

    fn count(&self, count: u64) -> Shown {
        match self.known {
            Known::Whole => Shown::Exactly(count),
            Known::Since => Shown::AtLeast(count),
            Known::Nothing => Shown::Unknown,
        }
    }
}
