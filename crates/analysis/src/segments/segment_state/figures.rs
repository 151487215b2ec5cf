//! Sums over the parts of a segment map. They saturate, as sizes come from the file.

use super::part::{Content, Part};
use oomscope_model::Bytes;

/// Sums over some parts. For parts that tile their segments,
/// `reserved = allocated_rounded + awaiting_rounded + holes`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Bytes reserved from the driver.
    pub reserved_bytes: Bytes,
    /// Requested bytes of allocated blocks.
    pub allocated_bytes: Bytes,
    /// Bytes of allocated blocks, with rounding.
    pub allocated_rounded_bytes: Bytes,
    /// Requested bytes of blocks that wait for a stream.
    pub awaiting_bytes: Bytes,
    /// Bytes of blocks that wait for a stream, with rounding.
    pub awaiting_rounded_bytes: Bytes,
    /// Bytes of holes.
    pub hole_bytes: Bytes,
    /// Bytes of the largest hole.
    pub largest_hole_bytes: Bytes,
    /// Number of holes.
    pub holes: usize,
    /// Number of blocks, with those that wait for a stream.
    pub blocks: usize,
    /// Number of blocks that wait for a stream.
    pub awaiting_blocks: usize,
    /// Number of segments; mapped runs of an expandable segment count one by one.
    pub segments: usize,
}

impl Figures {
    /// Requested bytes of all blocks, with those that wait for a stream.
    pub fn active_bytes(&self) -> Bytes {
        self.allocated_bytes + self.awaiting_bytes
    }

    /// Bytes of all blocks, with rounding.
    pub fn active_rounded_bytes(&self) -> Bytes {
        self.allocated_rounded_bytes + self.awaiting_rounded_bytes
    }

    /// Bytes of blocks beyond the requested ones.
    pub fn rounding_bytes(&self) -> Bytes {
        self.active_rounded_bytes() - self.active_bytes()
    }

    /// Share of the reserved bytes that blocks take, from 0 to 1; 0 if nothing is reserved.
    pub fn fill(&self) -> f64 {
        if self.reserved_bytes <= 0 {
            0.0
        } else {
            self.active_rounded_bytes().as_f64() / self.reserved_bytes.as_f64()
        }
    }

    /// Add a part. Segments are counted by the builder, which knows where they start.
    pub(super) fn add_part(&mut self, part: &Part, is_reserved: bool) {
        let (rounded, requested) = match part.content {
            Content::Allocated(_) => (&mut self.allocated_rounded_bytes, &mut self.allocated_bytes),
            Content::Awaiting(_) => (&mut self.awaiting_rounded_bytes, &mut self.awaiting_bytes),
            Content::Hole => {
                self.holes += 1;
                self.largest_hole_bytes = self.largest_hole_bytes.max(part.size);
                self.hole_bytes += part.size;
                self.reserved_bytes += part.size;
                return;
            }
            Content::Unmapped => return,
        };
        *rounded += part.size;
        *requested += part.requested;
        self.blocks += 1;
        self.awaiting_blocks += usize::from(matches!(part.content, Content::Awaiting(_)));
        if is_reserved {
            self.reserved_bytes += part.size;
        }
    }

    /// Add the sums of other parts.
    pub(super) fn merge(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.reserved_bytes, other.reserved_bytes),
            (&mut self.allocated_bytes, other.allocated_bytes),
            (&mut self.allocated_rounded_bytes, other.allocated_rounded_bytes),
            (&mut self.awaiting_bytes, other.awaiting_bytes),
            (&mut self.awaiting_rounded_bytes, other.awaiting_rounded_bytes),
            (&mut self.hole_bytes, other.hole_bytes),
        ] {
            *sum += more;
        }
        self.largest_hole_bytes = self.largest_hole_bytes.max(other.largest_hole_bytes);
        self.holes += other.holes;
        self.blocks += other.blocks;
        self.awaiting_blocks += other.awaiting_blocks;
        self.segments += other.segments;
    }
}
