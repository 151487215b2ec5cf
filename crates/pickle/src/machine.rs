//! The pickle machine: a stack of values, a stack of marks and a memo.
//!
//! [`Machine::run`] alternates between the hot loop (`frequent.rs`), which carries out what nearly all of a large file
//! consists of, and [`Machine::step`], which carries out any one opcode with all checks.

use super::feed::{ChunkSource, Feed, PADDING};
use super::memo::{Memo, MemoTable};
use super::runs::Runs;
use super::short_strings::ShortStrings;
use super::skeleton::Skeletons;
use super::{DecodeError, ErrorKind, Kind, Sink, SinkMark, Value, View, opcode};

/// Bytes of the pickle for each memo entry that room is made for. Denser snapshots were not seen.
const BYTES_PER_MEMO_ENTRY: u64 = 24;

/// The result of decoding: the root value, and why there is not more of it.
#[derive(Debug)]
pub struct Decoded {
    /// The pickled object. `None` when the input ended before there was any.
    pub root: Option<Value>,
    /// Bytes of the pickle that were read without error.
    pub read_bytes: u64,
    /// The damage that ended the decoding early; `root` then holds what was whole before it.
    pub damage: Option<DecodeError>,
}

/// Decode one pickle from `source` into `sink`.
///
/// Damage (a truncated or garbled input) is reported in the result together with what could be
/// saved. `expected_bytes` is the length of the pickle, where known: room for the memo is set aside.
///
/// # Errors
/// Opcodes that would run code, exceeded limits, cancellation, and whatever the sink refuses.
pub fn decode<S: ChunkSource, K: Sink>(
    source: S,
    sink: &mut K,
    expected_bytes: Option<u64>,
) -> Result<Decoded, DecodeError> {
    let mut machine = Machine::of_pickle(source, sink, expected_bytes);
    let outcome = machine.run();
    machine.decoded(outcome)
}

/// The state of the machine.
pub(super) struct Machine<'k, S, K, M> {
    pub(super) feed: Feed<S>,
    pub(super) sink: &'k mut K,
    pub(super) stack: Vec<Value>,
    /// Stack heights at which a MARK lies.
    pub(super) marks: Vec<usize>,
    pub(super) memo: M,
    pub(super) runs: Runs,
    pub(super) skeletons: Skeletons,
    pub(super) short_strings: ShortStrings,
    /// [`MemoTable::replacements`] when runs and skeletons were last known to be right.
    pub(super) known_replacements: u64,
    /// Offset of the opcode that is being carried out.
    pub(super) op_start: u64,
    /// Offset at the last look at the memory.
    pub(super) memory_checked: u64,
    /// Offset at which to stop, at the first opcode from there on.
    pub(super) stop_at: u64,
    /// In a piece, the latest place at which all items of its list were whole.
    pub(super) boundary: Boundary,
}

/// A place of a piece between two items of its list.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Boundary {
    /// Offset in the pickle of the next opcode.
    pub(super) offset: u64,
    /// Number of entries that the piece wrote to the memo.
    pub(super) memo: u64,
    /// Height of the stack.
    pub(super) stack: usize,
    /// Whether a batch of items has begun that is not appended to the list yet.
    pub(super) is_in_batch: bool,
    /// What the sink has received.
    pub(super) sink: SinkMark,
}

/// The machine's next move after an opcode.
enum Flow {
    Continue,
    Stop(Value),
}

impl<'k, S: ChunkSource, K: Sink> Machine<'k, S, K, Memo> {
    /// A machine at the start of a pickle.
    pub(super) fn of_pickle(source: S, sink: &'k mut K, expected_bytes: Option<u64>) -> Self {
        let entries = expected_bytes.map_or(0, |bytes| bytes / BYTES_PER_MEMO_ENTRY);
        Self::new(Feed::new(source), sink, Memo::with_capacity(entries))
    }

    /// The result, with all that can be saved where the input is damaged.
    pub(super) fn decoded(mut self, outcome: Result<Value, ErrorKind>) -> Result<Decoded, DecodeError> {
        let offset = self.op_start;
        match outcome {
            Ok(root) => Ok(Decoded { root: Some(root), read_bytes: self.feed.offset(), damage: None }),
            Err(kind) if kind.is_damage() => {
                let root = self.salvage().map_err(|kind| DecodeError { offset, kind })?;
                Ok(Decoded { root, read_bytes: offset, damage: Some(DecodeError { offset, kind }) })
            }
            Err(kind) => Err(DecodeError { offset, kind }),
        }
    }

    /// Carry out opcodes up to STOP, which leaves the root value.
    fn run(&mut self) -> Result<Value, ErrorKind> {
        loop {
            if let Some(root) = self.run_until(u64::MAX)? {
                return Ok(root);
            }
        }
    }
}

impl<'k, S: ChunkSource, K: Sink, M: MemoTable> Machine<'k, S, K, M> {
    pub(super) fn new(feed: Feed<S>, sink: &'k mut K, memo: M) -> Self {
        Self {
            feed,
            sink,
            stack: Vec::new(),
            marks: Vec::new(),
            memo,
            runs: Runs::default(),
            skeletons: Skeletons::default(),
            short_strings: ShortStrings::default(),
            known_replacements: 0,
            op_start: 0,
            memory_checked: 0,
            stop_at: u64::MAX,
            boundary: Boundary::default(),
        }
    }

    /// Carry out opcodes up to the first one from an offset on, or up to STOP, which leaves the root value.
    pub(super) fn run_until(&mut self, stop_at: u64) -> Result<Option<Value>, ErrorKind> {
        self.stop_at = stop_at;
        while self.feed.offset() < stop_at {
            if let Some(root) = self.advance()? {
                return Ok(Some(root));
            }
        }
        Ok(None)
    }

    /// Carry out frequent opcodes, and one of any kind. Returns the root value at STOP.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<Option<Value>, ErrorKind> {
        // The hot loop stops this far before the end of the window.
        if self.feed.end - self.feed.pos < PADDING && !self.feed.require(PADDING)? {
            self.op_start = self.feed.offset();
            if self.feed.pos == self.feed.end {
                return Err(ErrorKind::UnexpectedEnd);
            }
        }
        self.run_frequent_opcodes()?;
        self.op_start = self.feed.offset();
        self.check_limits()?;
        // The hot loop may have used up the window: look for more before taking a step.
        if self.feed.pos == self.feed.end || self.op_start == self.stop_at {
            return Ok(None);
        }
        match self.step()? {
            Flow::Stop(root) => Ok(Some(root)),
            Flow::Continue => Ok(None),
        }
    }

    /// Note that all items of a piece's list are whole, if they are. `pos` is the place of the next opcode in the window.
    #[inline]
    pub(super) fn note_boundary(&mut self, pos: usize) {
        if M::IS_OF_PIECE && self.marks.len() <= 1 {
            self.boundary = Boundary {
                offset: self.feed.offset_at(pos),
                memo: self.memo.written(),
                stack: self.stack.len(),
                is_in_batch: !self.marks.is_empty(),
                sink: self.sink.place(),
            };
        }
    }

    /// Carry out one opcode of any kind. It is kept out of [`Self::run`], so that its many branches do not take registers
    /// from the hot loop.
    #[inline(never)]
    fn step(&mut self) -> Result<Flow, ErrorKind> {
        let byte = self.feed.buf[self.feed.pos];
        self.feed.pos += 1;
        let op = opcode::name(byte).ok_or(ErrorKind::UnknownOpcode(byte))?;
        if opcode::is_forbidden(byte) {
            return Err(ErrorKind::Forbidden(op));
        }
        match byte {
            opcode::STOP => return self.pop(op).map(Flow::Stop),
            opcode::PROTO => {
                let [version] = self.fixed()?;
                if version > 5 {
                    return Err(ErrorKind::Protocol(version));
                }
            }
            opcode::FRAME => {
                // Frames help readers that buffer; the opcodes inside are read like any others.
                self.fixed::<8>()?;
            }
            opcode::MARK => self.marks.push(self.stack.len()),
            opcode::POP => self.pop_or_unmark(op)?,
            opcode::POP_MARK => {
                let at = self.mark(op)?;
                self.stack.truncate(at);
            }
            opcode::DUP => {
                let top = self.top(op)?;
                self.stack.push(top);
            }
            opcode::NONE => self.stack.push(Value::NONE),
            opcode::NEWTRUE | opcode::NEWFALSE => self.stack.push(Value::bool(byte == opcode::NEWTRUE)),
            opcode::APPEND | opcode::APPENDS | opcode::SETITEM | opcode::SETITEMS | opcode::ADDITEMS => {
                self.fill(byte, op)?;
                self.note_boundary(self.feed.pos);
            }
            opcode::GET..=opcode::BINGET | opcode::LONG_BINGET => self.get(byte, op)?,
            opcode::PUT..=opcode::LONG_BINPUT | opcode::MEMOIZE => self.put(byte, op)?,
            _ => self.construct(byte, op)?,
        }
        Ok(Flow::Continue)
    }

    /// Opcodes that move values from the stack into the container below them.
    #[inline]
    pub(super) fn fill(&mut self, byte: u8, op: &'static str) -> Result<(), ErrorKind> {
        let at = match byte {
            opcode::APPEND => self.below_top(1, op)?,
            opcode::SETITEM => self.below_top(2, op)?,
            _ => self.mark(op)?,
        };
        let container = *at
            .checked_sub(1)
            .and_then(|below| self.stack.get(below))
            .ok_or(ErrorKind::StackUnderflow(op))?;
        debug_assert!(at <= self.stack.len(), "a MARK lies above the stack");
        let items = &self.stack[at..];
        let wrong =
            |expected| Err(ErrorKind::WrongType { opcode: op, expected, found: container.type_name() });
        match (byte, container.view()) {
            (opcode::APPEND | opcode::APPENDS, View::Ref(Kind::List, list)) => {
                self.sink.extend_list(list, items)?;
            }
            (opcode::APPEND | opcode::APPENDS, _) => return wrong("a list"),
            (opcode::ADDITEMS, View::Ref(Kind::Set, set)) => self.sink.extend_set(set, items)?,
            (opcode::ADDITEMS, _) => return wrong("a set"),
            (_, View::Ref(Kind::Dict, _)) if items.len() % 2 == 1 => {
                return Err(ErrorKind::StackUnderflow(op));
            }
            (_, View::Ref(Kind::Dict, dict)) => self.sink.update_dict(dict, items)?,
            _ => return wrong("a dict"),
        }
        self.stack.truncate(at);
        Ok(())
    }

    /// A tuple of the values from height `at` on, which are removed.
    pub(super) fn tuple(&mut self, at: usize) -> Result<Value, ErrorKind> {
        let tuple = self.sink.tuple(&self.stack[at..])?;
        self.stack.truncate(at);
        Ok(Value::reference(Kind::Tuple, tuple))
    }

    /// GET in its forms: push a memo entry.
    fn get(&mut self, byte: u8, op: &'static str) -> Result<(), ErrorKind> {
        let index = match byte {
            opcode::BINGET => self.length(1)?,
            opcode::LONG_BINGET => self.length(4)?,
            _ => self.index_line(op)?,
        };
        let value = self.memo.get(index).ok_or(ErrorKind::Memo(index))?;
        self.stack.push(value);
        Ok(())
    }

    /// PUT in its forms: memoize the topmost value.
    fn put(&mut self, byte: u8, op: &'static str) -> Result<(), ErrorKind> {
        let index = match byte {
            opcode::MEMOIZE => {
                let top = self.top(op)?;
                return self.memo.memoize(top);
            }
            opcode::BINPUT => self.length(1)?,
            opcode::LONG_BINPUT => self.length(4)?,
            _ => self.index_line(op)?,
        };
        let top = self.top(op)?;
        self.memo.put(index, top)
    }

    /// The height of the topmost MARK, below which opcodes without one must not take values.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    pub(super) fn top(&self, op: &'static str) -> Result<Value, ErrorKind> {
        self.below_top(1, op).map(|at| self.stack[at])
    }

    fn pop(&mut self, op: &'static str) -> Result<Value, ErrorKind> {
        let top = self.top(op)?;
        self.stack.pop();
        Ok(top)
    }

    /// POP takes the topmost value, or the topmost MARK if that lies above all values, as Python's does.
    fn pop_or_unmark(&mut self, op: &'static str) -> Result<(), ErrorKind> {
        if self.stack.len() == self.floor() && self.marks.pop().is_some() {
            return Ok(());
        }
        self.pop(op).map(|_| ())
    }

    /// The height at which the topmost `n` values start.
    pub(super) fn below_top(&self, n: usize, op: &'static str) -> Result<usize, ErrorKind> {
        let at = self.stack.len().checked_sub(n).ok_or(ErrorKind::StackUnderflow(op))?;
        if at < self.floor() { Err(ErrorKind::StackUnderflow(op)) } else { Ok(at) }
    }

    /// Take the topmost MARK: the height of the stack at which it lies.
    #[inline]
    pub(super) fn mark(&mut self, op: &'static str) -> Result<usize, ErrorKind> {
        self.marks.pop().ok_or(ErrorKind::NoMark(op))
    }
}
