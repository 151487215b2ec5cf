//! The rest of a step while it is written: what is there of what its passes made.

use crate::projection::writer::Writer;
use oomscope_model::{Action, AllocId, Bytes, Event, StackId};
use std::collections::BTreeMap;

/// A block that is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) addr: u64,
    pub(super) bytes: Bytes,
}

/// A block that a forward keeps for its backward.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    pub(super) block: Block,
    /// How many operations of the backward need it, each of which makes a gradient of its size.
    pub(super) operations: usize,
    /// The code that made it.
    pub(super) stack: StackId,
}

/// The rest of a step.
pub(super) struct StepWriter {
    writer: Writer,
    /// What the pass keeps, by the number of the allocation that made it, recorded or not.
    pub(super) kept: BTreeMap<u32, Kept>,
    /// Event to model others on.
    like: Event,
}

impl StepWriter {
    /// Nothing yet after a request that failed, given what is kept.
    pub(super) fn new(failed: Event, kept: BTreeMap<u32, Kept>) -> Self {
        Self { writer: Writer::new(failed), kept, like: Event { compile_context: None, ..failed } }
    }

    /// How many events are written.
    pub(super) fn written(&self) -> usize {
        self.writer.written()
    }

    pub(super) fn into_events(self) -> Vec<Event> {
        self.writer.into_events()
    }

    /// Write an allocation that the pass keeps until it is freed.
    pub(super) fn keep(&mut self, id: AllocId, like: &Event, bytes: Bytes, operations: usize) {
        let addr = self.writer.alloc(like, bytes);
        self.kept.insert(id.0, Kept { block: Block { addr, bytes }, operations, stack: like.stack });
    }

    /// Whether the pass keeps what an allocation made, with some bytes.
    pub(super) fn has(&self, id: AllocId, bytes: Bytes) -> bool {
        self.kept.get(&id.0).is_some_and(|kept| kept.block.bytes == bytes)
    }

    /// Write that the pass frees what an allocation made, if it is there.
    pub(super) fn release(&mut self, id: AllocId, like: &Event) {
        if let Some(kept) = self.kept.remove(&id.0) {
            self.free(like, kept.block);
        }
    }

    /// Write an allocation of code with a stack.
    pub(super) fn make(&mut self, stack: StackId, bytes: Bytes) -> Block {
        let addr = self.writer.alloc(&Event { stack, ..self.like }, bytes);
        Block { addr, bytes }
    }

    /// The same of a size.
    pub(super) fn make_of_size(&mut self, stack: StackId, bytes: u64) -> Block {
        self.make(stack, Bytes::of_size(bytes))
    }

    /// Write that code with a stack frees a block.
    pub(super) fn drop(&mut self, stack: StackId, block: Block) {
        self.free(&Event { stack, ..self.like }, block);
    }

    fn free(&mut self, like: &Event, Block { addr, bytes }: Block) {
        for action in [Action::FreeRequested, Action::FreeCompleted] {
            self.writer.free(&Event { action, ..*like }, addr, bytes);
        }
    }
}
