//! The actions of events.

use super::{StrId, StringTable};
use std::borrow::Cow;

/// The action of an event: `action` of torch's trace entries (`CUDACachingAllocator.h`,
/// `TraceEntry::Action`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// A block was handed out.
    Alloc,
    /// The program gave a block back; another stream may still use it.
    FreeRequested,
    /// The block can be used again.
    FreeCompleted,
    /// The driver gave a segment (`cudaMalloc`).
    SegmentAlloc,
    /// A segment went back to the driver (`cudaFree`).
    SegmentFree,
    /// Pages of an expandable segment were mapped.
    SegmentMap,
    /// Pages of an expandable segment were unmapped.
    SegmentUnmap,
    /// A snapshot was taken.
    Snapshot,
    /// A request could not be met.
    Oom,
    /// Metadata was attached to a live block.
    Annotate,
    /// An action that this version does not know: index into [`ActionNames`].
    Other(u8),
}

impl Action {
    /// Actions that torch writes, with the names it gives them.
    const KNOWN: [(Self, &'static str); 10] = [
        (Self::Alloc, "alloc"),
        (Self::FreeRequested, "free_requested"),
        (Self::FreeCompleted, "free_completed"),
        (Self::SegmentAlloc, "segment_alloc"),
        (Self::SegmentFree, "segment_free"),
        (Self::SegmentMap, "segment_map"),
        (Self::SegmentUnmap, "segment_unmap"),
        (Self::Snapshot, "snapshot"),
        (Self::Oom, "oom"),
        (Self::Annotate, "annotate"),
    ];

    /// The names of the actions that torch writes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::KNOWN.iter().map(|&(_, name)| name)
    }

    /// The action as one byte, for columns; [`Self::from_code`] is the inverse.
    #[inline]
    pub(super) fn code(self) -> u8 {
        match self {
            Self::Alloc => 0,
            Self::FreeRequested => 1,
            Self::FreeCompleted => 2,
            Self::SegmentAlloc => 3,
            Self::SegmentFree => 4,
            Self::SegmentMap => 5,
            Self::SegmentUnmap => 6,
            Self::Snapshot => 7,
            Self::Oom => 8,
            Self::Annotate => 9,
            // Never saturates for a file's actions: there are at most `MAX_OTHERS`.
            Self::Other(i) => i.saturating_add(10),
        }
    }

    #[inline]
    pub(super) fn from_code(code: u8) -> Self {
        match Self::KNOWN.get(usize::from(code)) {
            Some(&(action, _)) => action,
            None => Self::Other(code - 10),
        }
    }
}

/// Names of actions, including those that only this file knows.
#[derive(Debug, Default, Clone)]
pub struct ActionNames {
    others: Vec<StrId>,
}

impl ActionNames {
    /// Number of unknown actions that keep their own name; further ones share the last one's. A code
    /// is one byte, and this leaves some of its values to actions that torch may add.
    const MAX_OTHERS: usize = 200;

    /// The action of a name. Unknown names are remembered.
    pub fn action(&mut self, name: StrId, strings: &StringTable) -> Action {
        if let Some(&(action, _)) = Action::KNOWN.iter().find(|(_, known)| strings.is(name, known.as_bytes()))
        {
            return action;
        }
        let at = self.others.iter().position(|&other| other == name).unwrap_or_else(|| {
            if self.others.len() < Self::MAX_OTHERS {
                self.others.push(name);
            }
            self.others.len() - 1
        });
        Action::Other(at as u8)
    }

    /// The names of unknown actions, by the number in [`Action::Other`].
    pub fn others(&self) -> &[StrId] {
        &self.others
    }

    /// Every action that can occur in the file.
    pub fn all(&self) -> impl Iterator<Item = Action> + '_ {
        let others = (0..=u8::MAX).map(Action::Other).take(self.others.len());
        Action::KNOWN.iter().map(|&(action, _)| action).chain(others)
    }

    /// The name of an action that only this file knows.
    pub fn other(&self, action: Action) -> Option<StrId> {
        let Action::Other(i) = action else { return None };
        self.others.get(usize::from(i)).copied()
    }

    /// The name that the file uses for an action; bounded, as [`StringTable::name`] is.
    pub fn name<'s>(&self, action: Action, strings: &'s StringTable) -> Cow<'s, str> {
        let known = || Action::KNOWN.iter().find(|&&(a, _)| a == action).map_or("", |&(_, name)| name);
        self.other(action).map_or_else(|| Cow::Borrowed(known()), |name| strings.name(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_reversible() {
        for code in 0..=u8::MAX {
            assert_eq!(Action::from_code(code).code(), code);
        }
    }

    #[test]
    fn unknown_actions_keep_their_name() {
        let mut strings = StringTable::default();
        let mut names = ActionNames::default();
        let (odd, _) = strings.intern(b"user_defined");
        let action = names.action(odd, &strings);
        assert_eq!(action, Action::Other(0));
        assert_eq!(names.name(action, &strings), "user_defined");
        assert_eq!(names.name(Action::Oom, &strings), "oom");
        assert_eq!(names.all().filter(|&action| names.name(action, &strings) == "user_defined").count(), 1);
    }
}
