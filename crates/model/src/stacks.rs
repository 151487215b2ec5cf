//! Interned stacks.

use super::{FrameId, StackId};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher as _;

/// Every distinct stack once, its frames innermost first. Id 0 is the empty stack.
///
/// All stacks lie one after another in one buffer. Large files have many thousands of short stacks, and a
/// `Vec` for each would cost a heap allocation and often more memory than the frames themselves.
#[derive(Debug, Clone)]
pub struct StackTable {
    frames: Vec<FrameId>,
    /// The end of each stack in `frames`; a stack starts at the end of the one before it.
    ends: Vec<usize>,
    /// Ids by hash. The stacks themselves are only in `frames`.
    lookup: HashTable<u32>,
    /// Seeded per table, so that a file cannot be built to make every lookup collide.
    hasher: RandomState,
}

impl Default for StackTable {
    fn default() -> Self {
        Self { frames: Vec::new(), ends: vec![0], lookup: HashTable::new(), hasher: RandomState::default() }
    }
}

impl StackTable {
    /// The id of a stack, added if it is new.
    #[inline]
    pub fn intern(&mut self, stack: &[FrameId]) -> StackId {
        if stack.is_empty() {
            return StackId::EMPTY;
        }
        let hash = self.hasher.hash_one(stack);
        let (frames, ends) = (&self.frames, &self.ends);
        if let Some(&id) = self.lookup.find(hash, |&id| slice(frames, ends, id) == stack) {
            return StackId(id);
        }
        let id = self.ends.len() as u32;
        self.frames.extend_from_slice(stack);
        self.ends.push(self.frames.len());
        let (frames, ends, hasher) = (&self.frames, &self.ends, &self.hasher);
        self.lookup.insert_unique(hash, id, |&id| hasher.hash_one(slice(frames, ends, id)));
        StackId(id)
    }

    /// Add a stack, also if it is known: the ids of others stay as they are.
    pub(super) fn push(&mut self, stack: &[FrameId]) {
        self.frames.extend_from_slice(stack);
        self.ends.push(self.frames.len());
    }

    /// Remove the stack that was added last, and return its frames. `None` if it is another one.
    pub fn take_back(&mut self, id: StackId) -> Option<Vec<FrameId>> {
        let is_last = id != StackId::EMPTY && id.0 as usize + 1 == self.ends.len();
        let hash = self.hasher.hash_one(is_last.then(|| self.frames(id))?);
        self.lookup.find_entry(hash, |&known| known == id.0).ok()?.remove();
        self.ends.pop();
        Some(self.frames.split_off(self.ends.last().copied().unwrap_or(0)))
    }

    /// The frames of a stack, innermost first; none of one beyond the table, which stands for code that was not recorded.
    pub fn frames(&self, id: StackId) -> &[FrameId] {
        slice(&self.frames, &self.ends, id.0)
    }

    /// Bytes of memory that the stacks take.
    pub fn held_bytes(&self) -> usize {
        size_of_val(&*self.frames) + size_of_val(&*self.ends) + self.lookup.allocation_size()
    }

    /// Number of distinct stacks, with the empty one.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// False: the empty stack is always there.
    pub fn is_empty(&self) -> bool {
        false
    }
}

fn slice<'a>(frames: &'a [FrameId], ends: &[usize], id: u32) -> &'a [FrameId] {
    let i = id as usize;
    let Some(&end) = ends.get(i) else { return &[] };
    let start = if i == 0 { 0 } else { ends[i - 1] };
    &frames[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_share_an_id_and_the_empty_one_is_zero() {
        let mut table = StackTable::default();
        let a = table.intern(&[FrameId(3), FrameId(1)]);
        let b = table.intern(&[FrameId(3)]);
        assert_eq!(table.intern(&[]), StackId::EMPTY);
        assert_eq!(table.intern(&[FrameId(3), FrameId(1)]), a);
        assert_ne!(a, b);
        assert_eq!(table.frames(a), [FrameId(3), FrameId(1)]);
        assert_eq!(table.frames(StackId::EMPTY), []);
        assert_eq!(table.len(), 3);
    }

    #[test]
    fn the_last_stack_can_be_taken_back_and_added_again() {
        let mut table = StackTable::default();
        let first = table.intern(&[FrameId(1)]);
        let last = table.intern(&[FrameId(1), FrameId(2)]);
        assert_eq!(table.take_back(first), None);
        assert_eq!(table.take_back(last), Some(vec![FrameId(1), FrameId(2)]));
        assert_eq!(table.intern(&[FrameId(4)]), last);
        assert_eq!(table.frames(last), [FrameId(4)]);
        assert_eq!(table.frames(first), [FrameId(1)]);
        assert_eq!(StackTable::default().take_back(StackId::EMPTY), None);
    }
}
