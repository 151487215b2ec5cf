//! The hot loop: the opcodes that make up nearly all of a large file, without leaving the window.

use super::feed::{ChunkSource, PADDING};
use super::machine::Machine;
use super::{ErrorKind, Kind, Sink, Value, number, opcode, runs, short_strings};

impl<S: ChunkSource, K: Sink> Machine<'_, S, K> {
    /// Carry out frequent opcodes for as long as they come and the window holds them. Whatever is
    /// rare, long or wrong is left for [`Machine::step`](super::machine::Machine), which does the
    /// same with all checks and messages.
    #[inline(never)]
    pub(super) fn run_frequent_opcodes(&mut self) -> Result<(), ErrorKind> {
        let last = self.feed.end.saturating_sub(PADDING);
        let mut pos = self.feed.pos;
        while pos < last {
            let Some(head) = self.feed.buf[pos..].first_chunk::<10>().copied() else { break };
            match head[0] {
                opcode::BINGET => {
                    let Some(value) = self.memo.get(u64::from(head[1])) else { break };
                    self.stack.push(value);
                    pos += 2;
                }
                opcode::LONG_BINGET => {
                    let index = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
                    let Some(value) = self.memo.get(u64::from(index)) else { break };
                    self.stack.push(value);
                    pos += 5;
                }
                opcode::BININT => {
                    let int = i32::from_le_bytes([head[1], head[2], head[3], head[4]]);
                    self.stack.push(Value::int(i64::from(int)));
                    pos += 5;
                }
                opcode::BININT1 => {
                    self.stack.push(Value::int(i64::from(head[1])));
                    pos += 2;
                }
                opcode::BININT2 => {
                    self.stack.push(Value::int(i64::from(u16::from_le_bytes([head[1], head[2]]))));
                    pos += 3;
                }
                opcode::LONG1 if matches!(head[1], 1..=8) => {
                    let [_, len, word @ ..] = head;
                    self.stack.push(Value::int(number::short_little_endian(word, len)));
                    pos += 2 + usize::from(len);
                }
                opcode::SHORT_BINUNICODE if head[1] <= short_strings::MAX_LEN => {
                    let [_, len, bytes @ ..] = head;
                    let word = short_strings::word(bytes, len);
                    let handle = if let Some(handle) = self.short_strings.get(word, len) {
                        handle
                    } else {
                        let handle = self.sink.string(&bytes[..usize::from(len)])?;
                        self.short_strings.insert(word, len, handle);
                        handle
                    };
                    let text = Value::reference(Kind::Str, handle);
                    self.stack.push(text);
                    pos += 2 + usize::from(len);
                    if self.feed.buf[pos] == opcode::MEMOIZE {
                        self.memo.memoize(text)?;
                        pos += 1;
                    }
                }
                opcode::SHORT_BINUNICODE => {
                    let text = pos + 2..pos + 2 + usize::from(head[1]);
                    if last < text.end {
                        break;
                    }
                    pos = text.end;
                    let handle = self.sink.string(&self.feed.buf[text])?;
                    self.stack.push(Value::reference(Kind::Str, handle));
                }
                opcode::MARK => {
                    self.marks.push(self.stack.len());
                    pos += 1;
                }
                opcode::MEMOIZE => {
                    let Some(&top) = self.stack.last() else { break };
                    self.memo.memoize(top)?;
                    pos += 1;
                }
                opcode::EMPTY_DICT => {
                    let dict = Value::reference(Kind::Dict, self.sink.dict()?);
                    self.stack.push(dict);
                    pos += 1;
                    // How picklers begin every dict that they will fill.
                    if head[1] == opcode::MEMOIZE && head[2] == opcode::MARK {
                        self.memo.memoize(dict)?;
                        self.marks.push(self.stack.len());
                        pos += 2;
                    }
                }
                opcode::EMPTY_LIST => {
                    let is_run =
                        head[1] == opcode::MEMOIZE && head[2] == opcode::MARK && runs::is_get(head[3]);
                    let run = if is_run { self.list_of_gets(pos + 3, last)? } else { None };
                    pos = if let Some(end) = run {
                        end
                    } else {
                        let list = self.sink.list()?;
                        self.stack.push(Value::reference(Kind::List, list));
                        pos + 1
                    };
                }
                opcode::TUPLE2 => {
                    let Ok(at) = self.below_top(2, "TUPLE2") else { break };
                    let tuple = self.tuple(at)?;
                    self.stack.push(tuple);
                    pos += 1;
                }
                opcode::SETITEMS => {
                    self.feed.pos = pos;
                    self.op_start = self.feed.offset();
                    self.fill(opcode::SETITEMS, "SETITEMS")?;
                    pos += 1;
                }
                opcode::APPENDS => {
                    self.feed.pos = pos;
                    self.op_start = self.feed.offset();
                    self.fill(opcode::APPENDS, "APPENDS")?;
                    pos += 1;
                }
                _ => break,
            }
        }
        self.feed.pos = pos;
        Ok(())
    }

    /// A new list whose items are all memo entries: the references from `start` on, up to and with
    /// the APPENDS. Returns where it ends; `None` if it is another kind of list.
    ///
    /// Such lists are the stacks of a trace, more than half of a large file, and the same ones come
    /// again and again: comparing bytes finds out without decoding them.
    #[inline(never)]
    fn list_of_gets(&mut self, start: usize, last: usize) -> Result<Option<usize>, ErrorKind> {
        let Some(window) = self.feed.buf.get(start..last) else { return Ok(None) };
        let known = self.runs.expected(window).or_else(|| self.runs.find(window));
        if let Some((len, contents)) = known {
            let list = self.sink.repeat_list(contents)?;
            let list = Value::reference(Kind::List, list);
            self.memo.memoize(list)?;
            self.stack.push(list);
            return Ok(Some(start + len));
        }
        let Some(len) = runs::length(window) else { return Ok(None) };
        let at = self.stack.len();
        for index in runs::indices(&window[..len]) {
            let Some(value) = self.memo.get(index) else {
                self.stack.truncate(at);
                return Ok(None);
            };
            self.stack.push(value);
        }
        let list = self.sink.list()?;
        self.memo.memoize(Value::reference(Kind::List, list))?;
        self.sink.extend_list(list, &self.stack[at..])?;
        self.stack.truncate(at);
        self.stack.push(Value::reference(Kind::List, list));
        if let Some(contents) = self.sink.list_contents(list) {
            self.runs.insert(&self.feed.buf[start..start + len], contents);
        }
        Ok(Some(start + len))
    }
}
