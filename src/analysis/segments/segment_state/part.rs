//! A stretch of addresses and its use.

use crate::model::AllocId;

/// What a part of a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A block in use. `None` if only the end state knows it.
    Allocated(Option<AllocId>),
    /// A block that the program gave back and that waits for a stream.
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

    /// Whether the part is a block.
    pub fn is_block(self) -> bool {
        matches!(self, Self::Allocated(_) | Self::Awaiting(_))
    }
}

/// A stretch of addresses with one use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Address of the first byte.
    pub addr: u64,
    /// Bytes, more than 0; of a block with its rounding.
    pub size: i64,
    /// Bytes that the program asked for, from `addr`; 0 for what is no block, at most `size`.
    pub requested: i64,
    /// What it is.
    pub content: Content,
}

impl Part {
    /// Address behind the last byte.
    pub fn past_end(&self) -> u64 {
        self.addr.saturating_add(self.size.unsigned_abs())
    }

    /// Bytes of a block that nobody asked for.
    pub fn rounding(&self) -> i64 {
        if self.content.is_block() { self.size - self.requested } else { 0 }
    }
}
