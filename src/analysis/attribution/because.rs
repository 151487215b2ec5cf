//! The evidence of a verdict.

use super::facts::free_event;
use super::{Blocks, Categories, EvidenceKind, RuleId};
use crate::model::{AllocId, EventIx, FrameId, Timeline};

/// The evidence that a rule shows for its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// Its size in bytes, and the time at which it was made.
    Size(i64),
    /// A label.
    Label,
    /// The frame that decided.
    Frame(FrameId),
    /// It has no stack.
    NoStack,
    /// The event that freed it.
    GivenBack(EventIx),
    /// It is never freed within the recording.
    Kept,
    /// Blocks of its size in bytes.
    Blocks(i64, Blocks),
    /// The allocation whose place it took.
    TookThePlaceOf(AllocId),
    /// It lies in a private pool.
    Pool,
}

impl Categories {
    /// The evidence for the category of an allocation.
    pub fn because(&self, timeline: &Timeline, id: AllocId) -> Because {
        self.because_of(timeline, id, self.rule(id))
    }

    /// The evidence of a rule that claims an allocation.
    pub fn because_of(&self, timeline: &Timeline, id: AllocId, rule: RuleId) -> Because {
        let lifetimes = &timeline.lifetimes;
        let size = timeline.size(id);
        match rule.rule().evidence {
            EvidenceKind::Size => Because::Size(size),
            EvidenceKind::Label => Because::Label,
            EvidenceKind::Pool => Because::Pool,
            EvidenceKind::Frame => match self.stacks.get(timeline.stack(id)).decided_by {
                Some(frame) => Because::Frame(frame),
                None => Because::NoStack,
            },
            EvidenceKind::Fate => {
                let freed = free_event(lifetimes, id);
                freed.map_or(Because::Kept, Because::GivenBack)
            }
            EvidenceKind::Blocks => {
                let blocks = self.evidence.blocks.get(&(rule, size));
                blocks.map_or(Because::Size(size), |&blocks| Because::Blocks(size, blocks))
            }
            EvidenceKind::Other => self
                .evidence
                .replaced
                .get(&id)
                .map_or(Because::Size(size), |&other| Because::TookThePlaceOf(other)),
        }
    }
}
