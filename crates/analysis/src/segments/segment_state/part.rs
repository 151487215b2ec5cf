//! A part of a row: a stretch of addresses with one use.

use oomscope_model::{AllocId, Bytes};

/// The use of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A block in use. `None` if only the end state knows it.
    Allocated(Option<AllocId>),
    /// A block that the program gave back and that waits for a stream. `None` if only the end state knows it.
    Awaiting(Option<AllocId>),
    /// Reserved and free.
    Hole,
    /// Addresses of an expandable segment without memory. Not reserved.
    Unmapped,
}

impl Content {
    /// The allocation, if the part is a block of one.
    pub fn allocation(self) -> Option<AllocId> {
        match self {
            Self::Allocated(id) | Self::Awaiting(id) => id,
            Self::Hole | Self::Unmapped => None,
        }
    }

    /// True if the part is a block.
    pub fn is_block(self) -> bool {
        matches!(self, Self::Allocated(_) | Self::Awaiting(_))
    }
}

/// A stretch of addresses with one use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Address of the first byte.
    pub addr: u64,
    /// Bytes, more than 0; for a block, with rounding.
    pub size: Bytes,
    /// Bytes from `addr` that the program asked for, from 0 to `size`; 0 if it is no block.
    pub requested: Bytes,
    /// Its use.
    pub content: Content,
}

impl Part {
    /// First address after it.
    pub fn past_end(&self) -> u64 {
        self.addr.saturating_add(self.size.unsigned_abs())
    }

    /// Bytes of a block beyond the requested ones; 0 if it is no block.
    pub fn rounding(&self) -> Bytes {
        debug_assert!((Bytes::ZERO..=self.size).contains(&self.requested));
        if self.content.is_block() { self.size - self.requested } else { Bytes::ZERO }
    }
}
