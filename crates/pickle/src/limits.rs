//! Limits on what one pickle may take, so that a hostile file cannot fill memory.

use super::feed::ChunkSource;
use super::machine::Machine;
use super::memo::MemoTable;
use super::{ErrorKind, Sink};

/// The longest stack that is kept, in values: 512 MiB. A C++ pickler puts all events of a list there before the list
/// gets them, so this bounds memory, not nesting alone.
const MAX_STACK: usize = 1 << 25;

/// The deepest nesting that is followed, in marks: 8 MiB. Snapshots need about ten. Nothing recurses along them, so
/// this bounds memory alone.
const MAX_MARKS: usize = 1 << 20;

/// Bytes of the pickle between two looks at the memory, which walk over all tables.
const MEMORY_CHECK_BYTES: u64 = 256 << 10;

impl<S: ChunkSource, K: Sink, M: MemoTable> Machine<'_, S, K, M> {
    /// Check all limits. Between two calls lies at most a chunk of opcodes, which can exceed a limit only by its
    /// own length.
    #[inline]
    pub(super) fn check_limits(&mut self) -> Result<(), ErrorKind> {
        if MAX_STACK < self.stack.len() {
            return Err(ErrorKind::Limit { what: "values on the stack", limit: MAX_STACK as u64 });
        }
        if MAX_MARKS < self.marks.len() {
            return Err(ErrorKind::Limit { what: "nested containers", limit: MAX_MARKS as u64 });
        }
        debug_assert!(self.memory_checked <= self.op_start, "offsets only grow");
        if MEMORY_CHECK_BYTES <= self.op_start - self.memory_checked {
            self.memory_checked = self.op_start;
            self.check_memory()?;
        }
        Ok(())
    }

    #[cold]
    fn check_memory(&self) -> Result<(), ErrorKind> {
        let Some(bound) = self.feed.bound() else { return Ok(()) };
        let values = size_of_val(&*self.stack) + size_of_val(&*self.marks);
        let machine = values + self.memo.held_bytes() + self.runs.held_bytes();
        bound.check(machine + self.sink.held_bytes(), self.op_start)
    }
}
