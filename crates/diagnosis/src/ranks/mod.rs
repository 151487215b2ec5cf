//! The recordings of a job side by side: one for each rank.
//!
//! A job of many ranks writes a file for each. [`summarize`] reduces a file to what a comparison needs, so that the
//! recordings themselves need not be in memory together. A [`Job`] orders the summaries by rank, and says which ranks
//! are outliers and with which lines of code, who failed first and how the others stood then, and how
//! the peaks developed.
//!
//! This layer knows no text formats, no files and no windows.

mod excess;
mod failure;
mod heat;
mod job;
mod median;
mod names;
mod outliers;
mod summary;
#[cfg(test)]
mod tests;
mod together;

pub use crate::rank_excess::{LineChange, RankExcess};
pub use failure::{FirstFailure, Standing, first_failure};
pub use heat::{Heat, HeatAxis, heat};
pub use job::{FileSummary, Job, JobDevice};
pub use median::middle;
pub use names::ranks_of;
pub use outliers::{Outlier, outliers, outlying};
pub use summary::{
    DeviceSummary, FailureSummary, IterationPeak, LineBytes, PeakSummary, VerdictSummary, summarize,
};
pub use together::{Together, together};
