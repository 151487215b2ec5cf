//! Parts of a recording that users name: an iteration, a phase, a range of the program's own, or events by number.

mod event_ranges;
mod moment_range;
mod range_query;
#[cfg(test)]
mod tests;

pub use event_ranges::EventRanges;
pub use moment_range::{Amount, MomentRange, RangeSums, range_sums};
pub use range_query::RangeQuery;
