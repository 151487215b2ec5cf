//! The source of an allocation: its stack or, without stacks, its size.

use crate::case::Case;
use oomscope_model::{AllocId, Allocation, Bytes, StackId};

/// The source of an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Source {
    /// The code that made it.
    Stack(StackId),
    /// Unknown code, identified by the bytes that it requests; see [`Case::goes_by_size`].
    Size(Bytes),
}

impl Source {
    /// The source of an allocation; `None` if nothing identifies it.
    pub(super) fn of(case: &Case<'_>, a: &Allocation) -> Option<Self> {
        Self::new(case, a.stack, a.size)
    }

    /// The source of an allocation by its number; `None` if nothing identifies it.
    pub(super) fn of_id(case: &Case<'_>, id: AllocId) -> Option<Self> {
        Self::new(case, case.recording.stack(id), case.recording.size(id))
    }

    fn new(case: &Case<'_>, stack: StackId, size: Bytes) -> Option<Self> {
        match stack {
            StackId::EMPTY => case.goes_by_size().then_some(Self::Size(size)),
            stack => Some(Self::Stack(stack)),
        }
    }

    /// The stack, if there is one.
    pub(super) fn stack(self) -> Option<StackId> {
        match self {
            Self::Stack(stack) => Some(stack),
            Self::Size(_) => None,
        }
    }
}
