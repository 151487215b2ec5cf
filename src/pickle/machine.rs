//! The pickle machine: a stack of values, a stack of marks and a memo.

use super::feed::{ChunkSource, Feed, PADDING};
use super::memo::Memo;
use super::runs::Runs;
use super::short_strings::ShortStrings;
use super::skeleton::Skeletons;
use super::{DecodeError, ErrorKind, Kind, Sink, Value, View, number, opcode};
use std::ops::Range;

/// The longest stack that is kept. A C++ pickler puts all events of a list there before the list
/// gets them, so this bounds memory, not nesting alone.
const MAX_STACK: usize = 1 << 25;

/// The deepest nesting that is followed.
const MAX_MARKS: usize = 1 << 20;

/// What is kept of any input may take this much memory, and more for each byte that the input takes where
/// it is stored. Compressed snapshots take up to 20 times their length; an answer takes up to four times
/// what is kept. So an input below 1 MB, whatever it expands to, stays below 1 GiB.
const BASE_MEMORY_BYTES: u64 = 128 << 20;
const MEMORY_BYTES_PER_STORED_BYTE: u64 = 100;

/// Bytes of the pickle between two looks at the memory.
const MEMORY_CHECK_BYTES: u64 = 256 << 10;

/// Snapshots have at most one memo entry in this many bytes.
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
    let mut machine = Machine {
        feed: Feed::new(source),
        sink,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: Memo::with_capacity(expected_bytes.map_or(0, |bytes| bytes / BYTES_PER_MEMO_ENTRY)),
        runs: Runs::default(),
        skeletons: Skeletons::default(),
        short_strings: ShortStrings::default(),
        known_replacements: 0,
        op_start: 0,
        memory_checked: 0,
    };
    let outcome = machine.run();
    let offset = machine.op_start;
    match outcome {
        Ok(root) => Ok(Decoded { root: Some(root), read_bytes: machine.feed.offset(), damage: None }),
        Err(kind) if kind.is_damage() => {
            let root = machine.salvage().map_err(|kind| DecodeError { offset, kind })?;
            Ok(Decoded { root, read_bytes: offset, damage: Some(DecodeError { offset, kind }) })
        }
        Err(kind) => Err(DecodeError { offset, kind }),
    }
}

pub(super) struct Machine<'k, S, K> {
    pub(super) feed: Feed<S>,
    pub(super) sink: &'k mut K,
    pub(super) stack: Vec<Value>,
    /// Stack heights at which a MARK lies.
    pub(super) marks: Vec<usize>,
    pub(super) memo: Memo,
    pub(super) runs: Runs,
    pub(super) skeletons: Skeletons,
    pub(super) short_strings: ShortStrings,
    /// [`Memo::replacements`] when runs and skeletons were last right.
    pub(super) known_replacements: u64,
    /// Offset of the opcode that is being carried out.
    pub(super) op_start: u64,
    /// Offset at the last look at the memory.
    memory_checked: u64,
}

/// What to do after an opcode.
enum Flow {
    Continue,
    Stop(Value),
}

impl<S: ChunkSource, K: Sink> Machine<'_, S, K> {
    fn run(&mut self) -> Result<Value, ErrorKind> {
        loop {
            if self.feed.end - self.feed.pos < PADDING && !self.feed.require(PADDING)? {
                self.op_start = self.feed.offset();
                if self.feed.pos == self.feed.end {
                    return Err(ErrorKind::UnexpectedEnd);
                }
            }
            self.run_frequent_opcodes()?;
            self.op_start = self.feed.offset();
            self.check_limits()?;
            if self.feed.pos == self.feed.end {
                continue;
            }
            if let Flow::Stop(root) = self.step()? {
                return Ok(root);
            }
        }
    }

    /// Carry out one opcode of any kind.
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
                // Frames only help readers that buffer; the opcodes inside are read as any others.
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
            }
            opcode::GET..=opcode::BINGET | opcode::LONG_BINGET => self.get(byte, op)?,
            opcode::PUT..=opcode::LONG_BINPUT | opcode::MEMOIZE => self.put(byte, op)?,
            _ => self.construct(byte, op)?,
        }
        Ok(Flow::Continue)
    }

    /// Opcodes that push a new scalar, string or container.
    fn construct(&mut self, byte: u8, op: &'static str) -> Result<(), ErrorKind> {
        let value = match byte {
            opcode::BININT => Value::int(i64::from(i32::from_le_bytes(self.fixed()?))),
            opcode::BININT1 => Value::int(i64::from(u8::from_le_bytes(self.fixed()?))),
            opcode::BININT2 => Value::int(i64::from(u16::from_le_bytes(self.fixed()?))),
            opcode::BINFLOAT => Value::float(f64::from_be_bytes(self.fixed()?)),
            opcode::LONG1 | opcode::LONG4 => {
                let len = self.length(if byte == opcode::LONG1 { 1 } else { 4 })?;
                let digits = self.take(len)?;
                number::little_endian(&self.feed.buf[digits])
            }
            opcode::INT | opcode::LONG => {
                let line = self.line()?;
                number::decimal(&self.feed.buf[line]).ok_or(ErrorKind::Argument(op))?
            }
            opcode::FLOAT => {
                let line = self.line()?;
                number::float(&self.feed.buf[line]).ok_or(ErrorKind::Argument(op))?
            }
            opcode::EMPTY_DICT => Value::reference(Kind::Dict, self.sink.dict()?),
            opcode::EMPTY_LIST => Value::reference(Kind::List, self.sink.list()?),
            opcode::EMPTY_SET => Value::reference(Kind::Set, self.sink.set()?),
            opcode::EMPTY_TUPLE => Value::reference(Kind::Tuple, self.sink.tuple(&[])?),
            opcode::TUPLE1 => self.tuple(self.below_top(1, op)?)?,
            opcode::TUPLE2 => self.tuple(self.below_top(2, op)?)?,
            opcode::TUPLE3 => self.tuple(self.below_top(3, op)?)?,
            opcode::TUPLE => {
                let at = self.mark(op)?;
                self.tuple(at)?
            }
            opcode::LIST | opcode::DICT | opcode::FROZENSET => self.collect(byte, op)?,
            _ => self.text(byte, op)?,
        };
        self.stack.push(value);
        Ok(())
    }

    /// Opcodes that push a string or bytes.
    fn text(&mut self, byte: u8, op: &'static str) -> Result<Value, ErrorKind> {
        let width = match byte {
            opcode::SHORT_BINUNICODE | opcode::SHORT_BINSTRING | opcode::SHORT_BINBYTES => 1,
            opcode::BINUNICODE | opcode::BINSTRING | opcode::BINBYTES => 4,
            opcode::BINUNICODE8 | opcode::BINBYTES8 | opcode::BYTEARRAY8 => 8,
            _ => 0,
        };
        if width == 0 {
            let line = self.line()?;
            let line = &self.feed.buf[line];
            let text = match byte {
                opcode::STRING => super::text::unquote(line),
                opcode::UNICODE => super::text::raw_unicode_escape(line),
                _ => return Err(ErrorKind::UnknownOpcode(byte)),
            };
            return self
                .sink
                .string(&text.ok_or(ErrorKind::Argument(op))?)
                .map(|handle| Value::reference(Kind::Str, handle));
        }
        let len = self.length(width)?;
        let range = self.take(len)?;
        let content = &self.feed.buf[range];
        match byte {
            opcode::SHORT_BINBYTES | opcode::BINBYTES | opcode::BINBYTES8 | opcode::BYTEARRAY8 => {
                self.sink.bytes(content).map(|handle| Value::reference(Kind::Bytes, handle))
            }
            _ => self.sink.string(content).map(|handle| Value::reference(Kind::Str, handle)),
        }
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

    /// LIST, DICT and FROZENSET: a container from all values above the mark.
    fn collect(&mut self, byte: u8, op: &'static str) -> Result<Value, ErrorKind> {
        let at = self.mark(op)?;
        let items = &self.stack[at..];
        let value = match byte {
            opcode::LIST => {
                let list = self.sink.list()?;
                self.sink.extend_list(list, items)?;
                Value::reference(Kind::List, list)
            }
            opcode::DICT if items.len() % 2 == 1 => return Err(ErrorKind::StackUnderflow(op)),
            opcode::DICT => {
                let dict = self.sink.dict()?;
                self.sink.update_dict(dict, items)?;
                Value::reference(Kind::Dict, dict)
            }
            _ => {
                let set = self.sink.set()?;
                self.sink.extend_set(set, items)?;
                Value::reference(Kind::Set, set)
            }
        };
        self.stack.truncate(at);
        Ok(value)
    }

    /// A tuple of the values from height `at` on, which it replaces.
    pub(super) fn tuple(&mut self, at: usize) -> Result<Value, ErrorKind> {
        let tuple = self.sink.tuple(&self.stack[at..])?;
        self.stack.truncate(at);
        Ok(Value::reference(Kind::Tuple, tuple))
    }

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

    fn index_line(&mut self, op: &'static str) -> Result<u64, ErrorKind> {
        let line = self.line()?;
        std::str::from_utf8(&self.feed.buf[line])
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .ok_or(ErrorKind::Argument(op))
    }

    /// Called between runs of opcodes, which are at most a chunk long.
    fn check_limits(&mut self) -> Result<(), ErrorKind> {
        if MAX_STACK < self.stack.len() {
            return Err(ErrorKind::Limit { what: "values on the stack", limit: MAX_STACK as u64 });
        }
        if MAX_MARKS < self.marks.len() {
            return Err(ErrorKind::Limit { what: "nested containers", limit: MAX_MARKS as u64 });
        }
        if MEMORY_CHECK_BYTES <= self.op_start - self.memory_checked {
            self.memory_checked = self.op_start;
            self.check_memory()?;
        }
        Ok(())
    }

    fn check_memory(&self) -> Result<(), ErrorKind> {
        let Some(stored) = self.feed.stored_bytes() else { return Ok(()) };
        let machine = size_of_val(&*self.stack) + size_of_val(&*self.marks) + self.memo.held_bytes();
        let held = (machine + self.sink.held_bytes()) as u64;
        let limit = BASE_MEMORY_BYTES.saturating_add(stored.saturating_mul(MEMORY_BYTES_PER_STORED_BYTE));
        if limit < held { Err(ErrorKind::Expansion { stored, limit }) } else { Ok(()) }
    }

    /// The lowest height that the topmost frame of the stack may be popped to.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn top(&self, op: &'static str) -> Result<Value, ErrorKind> {
        self.below_top(1, op).map(|at| self.stack[at])
    }

    fn pop(&mut self, op: &'static str) -> Result<Value, ErrorKind> {
        let top = self.top(op)?;
        self.stack.pop();
        Ok(top)
    }

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

    fn mark(&mut self, op: &'static str) -> Result<usize, ErrorKind> {
        self.marks.pop().ok_or(ErrorKind::NoMark(op))
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], ErrorKind> {
        let range = self.take(N as u64)?;
        self.feed.buf[range].first_chunk().copied().ok_or(ErrorKind::UnexpectedEnd)
    }

    /// A little-endian length or index of `width` bytes.
    fn length(&mut self, width: usize) -> Result<u64, ErrorKind> {
        let range = self.take(width as u64)?;
        let mut word = [0; 8];
        word[..width].copy_from_slice(&self.feed.buf[range]);
        Ok(u64::from_le_bytes(word))
    }

    /// The next `len` bytes.
    fn take(&mut self, len: u64) -> Result<Range<usize>, ErrorKind> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        if !self.feed.require(len)? {
            return Err(ErrorKind::UnexpectedEnd);
        }
        let start = self.feed.pos;
        self.feed.pos += len;
        Ok(start..start + len)
    }

    fn line(&mut self) -> Result<Range<usize>, ErrorKind> {
        self.feed.line()?.ok_or(ErrorKind::UnexpectedEnd)
    }
}
