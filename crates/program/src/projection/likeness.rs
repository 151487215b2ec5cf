//! By what allocations of two iterations are told to be the same.

use crate::Run;
use oomscope_model::{AllocId, EventIx, StackId};

/// The allocator rounds requests to a multiple of this many bytes, and a request that failed is recorded with that size.
pub(super) const ROUNDING: u64 = 512;

/// What two allocations have in common if they are counterparts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// The stack and the size.
    StackAndSize,
    /// The stack; sizes differ, as those of another batch do.
    Stack,
    /// The size; stacks differ, as those of code do that is compiled when it is called first, or were not recorded.
    Size,
}

/// A stack, a size, or both.
pub(super) type Mark = (StackId, u64);

impl Likeness {
    /// All kinds, the strictest first.
    pub(super) const ALL: [Self; 3] = [Self::StackAndSize, Self::Stack, Self::Size];

    /// What an allocation shows of it.
    pub(super) fn mark(self, run: &Run<'_>, id: AllocId) -> Mark {
        self.of(run.recording.stack(id), run.bytes(id))
    }

    /// What a request that failed shows of it.
    pub(super) fn mark_of_failed(self, run: &Run<'_>, event: EventIx) -> Mark {
        let events = &run.recording.events;
        self.of(events.stack(event), events.size(event).as_u64())
    }

    fn of(self, stack: StackId, bytes: u64) -> Mark {
        let bytes = bytes.div_ceil(ROUNDING);
        match self {
            Self::StackAndSize => (stack, bytes),
            Self::Stack => (stack, 0),
            Self::Size => (StackId::EMPTY, bytes),
        }
    }
}
