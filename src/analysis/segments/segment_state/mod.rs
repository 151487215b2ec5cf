//! The memory map at a moment: what every reserved byte is used for.
//!
//! [`SegmentIndex`] holds what stays the same from moment to moment; [`SegmentIndex::at`] answers for
//! one moment. A [`Row`] is a segment, or all mapped runs of one expandable segment. Its [`Part`]s
//! are in address order and tile it without gap or overlap, whatever the file says.
//!
//! How exact the picture is depends on [`Basis`]. After the last event it is the snapshot's own
//! record of segments and blocks. Before, it follows from the events: a block is known to take its
//! requested bytes, rounded up to a [`block_size`](allocator_sizes::block_size), except that blocks which
//! survive the recording have their true size at every moment. What no block is known to take is a hole. In
//! segments of the large pool the allocator keeps up to [`MAX_SLACK_BYTES`] with a block rather than
//! split them off, and no event tells; there, an earlier hole may be that much smaller in truth.

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
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

pub use contradictions::{Contradiction, Contradictions};
pub use figures::Figures;
pub use fit::RequestFit;
pub use group::{GroupKey, SizeClass};
pub use index::SegmentIndex;
pub use part::{Content, Part};
pub use pins::Pinned;
pub use state::{Basis, Group, Row, SegmentState};

use crate::model::allocator_sizes;

/// The most bytes that a block of the large pool keeps beyond its rounded request, rather than be split.
pub const MAX_SLACK_BYTES: i64 = allocator_sizes::SMALL_SIZE;
