//! What made an allocation.

use crate::diagnosis::Context;
use crate::model::{AllocId, Allocation, StackId};

/// What made an allocation: a stack; or in a recording that has none, whatever makes allocations of a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Source {
    /// Code.
    Stack(StackId),
    /// Code that is not known, by the size that it asks for.
    Size(i64),
}

impl Source {
    /// What made an allocation; `None` where that cannot be told.
    pub(super) fn of(context: &Context<'_>, a: &Allocation) -> Option<Self> {
        Self::new(context, a.stack, a.size)
    }

    /// The same, by its number.
    pub(super) fn of_id(context: &Context<'_>, id: AllocId) -> Option<Self> {
        let timeline = context.timeline;
        let size = timeline.lifetimes.size(id, &timeline.events);
        Self::new(context, timeline.lifetimes.stack(id, &timeline.events), size)
    }

    fn new(context: &Context<'_>, stack: StackId, size: i64) -> Option<Self> {
        match stack {
            StackId::EMPTY => context.tells_by_size().then_some(Self::Size(size)),
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
