//! The tools: each file has one, as `TOOL`.

pub(super) mod diff;
pub(super) mod explain;
pub(super) mod list;
pub(super) mod live;
pub(super) mod ranks;
pub(super) mod remedies;
pub(super) mod series;
pub(super) mod summary;
pub(super) mod verdict;
