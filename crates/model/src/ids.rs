//! Typed indices, so that an event cannot be mistaken for an allocation.

use std::fmt;

/// Declares an index newtype over `u32`.
macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an array index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// A string of the file, in its [`StringTable`](super::StringTable).
    StrId
);
index!(
    /// A stack frame, in the [`FrameTable`](super::FrameTable).
    FrameId
);
index!(
    /// A stack, innermost frame first, in the [`StackTable`](super::StackTable). 0 is the empty stack.
    StackId
);
index!(
    /// An event of one device: its index in that device's trace, from 0.
    EventIx
);
index!(
    /// An allocation of one device: a block from its alloc to its free.
    ///
    /// Ids are in allocation order; the blocks from before the first event come first.
    AllocId
);
index!(
    /// A distinct address in one device's trace.
    AddrId
);

impl StackId {
    /// The stack without frames: nothing was recorded.
    pub const EMPTY: Self = Self(0);
}

/// A point between two events, as the number of events that have taken effect. 0 is the state before the
/// first event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(pub u32);

impl Moment {
    /// Before the first event of the trace.
    pub const START: Self = Self(0);

    /// The moment right after an event.
    pub fn after(event: EventIx) -> Self {
        Self(event.0 + 1)
    }

    /// The event that led to this moment; `None` before the first.
    pub fn event(self) -> Option<EventIx> {
        self.0.checked_sub(1).map(EventIx)
    }

    /// The moment as an array index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A CUDA device's number, or [`HOST`](Self::HOST) for pinned host memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub i64);

impl DeviceId {
    /// Pinned host memory, which torch writes as `host_segments` and `host_traces`.
    pub const HOST: Self = Self(-1);
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::HOST { f.write_str("pinned host memory") } else { write!(f, "device {}", self.0) }
    }
}
