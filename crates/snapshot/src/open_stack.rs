//! Stacks of over a thousand frames, which picklers write in batches.
//!
//! A batch that fills a list of a whole number of batches leaves the stack open: the next opcodes may bring more frames. Then
//! the shorter stack is taken back, so that a stack takes memory once and not once for each batch. A pickler writes one batch
//! right after the other, so a stack that something refers to, or after which another one comes, is complete.

use super::builder::Builder;
use super::containers::{ListState, OpenStack};
use oomscope_model::StackId;
use oomscope_pickle::{ErrorKind, Handle, Value};

/// The deepest stack that is kept, in frames. Python's own limit is 1,000 unless a program raises it; this one
/// bounds memory.
pub(super) const MAX_STACK_FRAMES: usize = 1 << 16;

/// Items per batch in which Python's pickler writes a list (`_BATCHSIZE` in `Lib/pickle.py`).
const BATCH_ITEMS: usize = 1000;

impl Builder {
    /// Make the collected frames the stack of a list.
    pub(super) fn become_stack(&mut self, list: Handle) {
        let known = self.stacks.len();
        let id = self.stacks.intern(&self.frame_scratch);
        let frames = self.frame_scratch.len();
        let is_open = frames.is_multiple_of(BATCH_ITEMS) && frames < MAX_STACK_FRAMES;
        self.open_stack = is_open.then_some(OpenStack { list, is_own: known < self.stacks.len() });
        self.lists.set(list, ListState::Stack(id));
    }

    /// Append frames to a list that is a stack already.
    pub(super) fn grow_stack(&mut self, list: Handle, id: StackId, items: &[Value]) -> Result<(), ErrorKind> {
        self.note_change(list);
        let open = self.open_stack.filter(|open| open.is_of(list));
        let Some(open) = open.filter(|_| self.stacks.frames(id).len() < MAX_STACK_FRAMES) else {
            self.skip_frames(items);
            return Ok(());
        };
        if !self.collect_frames(items)? {
            self.skip_frames(items);
            return Ok(());
        }
        let before = if open.is_own && self.is_free(id) { self.stacks.take_back(id) } else { None };
        let before = before.unwrap_or_else(|| self.stacks.frames(id).to_vec());
        self.frame_scratch.splice(..0, before);
        self.limit_frames();
        self.become_stack(list);
        Ok(())
    }

    /// Whether a stack is in none of the tables that others know.
    fn is_free(&self, id: StackId) -> bool {
        let others = [self.known, self.shared, Some(self.taken)];
        others.into_iter().flatten().all(|extent| extent.stacks <= id.0 as usize)
    }

    fn skip_frames(&mut self, items: &[Value]) {
        self.notes.skipped("frames added to a stack that was complete", items.len() as u64);
    }

    /// Leave out the collected frames beyond the limit.
    pub(super) fn limit_frames(&mut self) {
        let beyond = self.frame_scratch.len().saturating_sub(MAX_STACK_FRAMES);
        self.notes.skipped("frames beyond the 65536th of a stack", beyond as u64);
        self.frame_scratch.truncate(MAX_STACK_FRAMES);
    }
}
