//! The segment map at a moment: the use of every reserved byte.
//!
//! [`SegmentIndex`] holds the part of a map that is the same at every moment; [`SegmentIndex::at`] makes
//! the map of one moment. A [`Row`] is a segment, or all mapped runs of one expandable segment. Its
//! [`Part`]s are in address order and tile it without gap or overlap, whatever is in the file.
//!
//! The [`Basis`] says how exact a map is. After the last event it is the snapshot's own record of
//! segments and blocks. Before, it follows from the events: a block takes its requested bytes, rounded up
//! to a [`block_size`](allocator_sizes::block_size), except that blocks which survive the recording have
//! their true size at every moment. Bytes that no block takes are a hole. In segments of the large pool,
//! the allocator leaves a rest of up to [`MAX_SLACK_BYTES`] with a block instead of splitting it off, which
//! no event records. So an earlier hole there may in truth be smaller by that much.

mod builder;
mod contradictions;
mod end;
mod figures;
mod fit;
mod group;
mod index;
mod part;
mod pins;
mod reserved;
mod segment_classes;
mod split_rule;
mod state;
mod tiling;

#[cfg(test)]
mod tests;

pub use contradictions::{Contradiction, Contradictions};
pub use figures::Figures;
pub use fit::{OtherHoles, RequestFit};
pub use group::{GroupKey, SizeClass};
pub use index::SegmentIndex;
pub use part::{Content, Part};
pub use pins::Pinned;
pub use state::{Basis, Group, Row, SegmentState};

use oomscope_model::{Bytes, allocator_sizes};

/// Largest number of bytes that a block of the large pool may have beyond its rounded request: a rest is only
/// split off if it is larger (`should_split` of `CUDACachingAllocator.cpp`).
pub const MAX_SLACK_BYTES: Bytes = allocator_sizes::SMALL_SIZE;
