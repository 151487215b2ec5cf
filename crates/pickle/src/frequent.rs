//! The hot loop: the opcodes that make up nearly all of a large file, without leaving the window.
//!
//! Three shortcuts make it fast. Each leaves stack, marks and memo as the plain opcodes would:
//!
//! - Short strings are looked up by their first eight bytes (`short_strings.rs`).
//! - A list of nothing but memo references is recognised by its bytes (`runs.rs`): in a trace, that is a stack.
//! - A dict whose keys are memo references is read by the keys of an earlier one (`skeleton.rs`): in a trace, that is
//!   an event.
//!
//! Recognising bytes is right only as long as memo entries keep their values; see [`Machine::forget_if_replaced`].

use super::feed::{ChunkSource, PADDING};
use super::machine::Machine;
use super::memo::MemoTable;
use super::skeleton::{self, Skeleton};
use super::{ErrorKind, Kind, Sink, Value, number, opcode, runs, short_strings};

impl<S: ChunkSource, K: Sink, M: MemoTable> Machine<'_, S, K, M> {
    /// Carry out frequent opcodes for as long as they come and the window holds them. Whatever is
    /// rare, long or wrong is left for [`Machine::step`](super::machine::Machine), which does the
    /// same with all checks and messages.
    ///
    /// It is kept apart from the rare opcodes, so that registers and instruction cache are the loop's own.
    #[inline(never)]
    pub(super) fn run_frequent_opcodes(&mut self) -> Result<(), ErrorKind> {
        // An opcode that starts before this has its fixed operand, which is never longer than the padding, in the
        // window: no read in the loop needs a check against the end of the input.
        let last = self.feed.end.saturating_sub(PADDING).min(self.feed.position_of(self.stop_at));
        // A local variable, which can stay in a register while the sink is called.
        let mut pos = self.feed.pos;
        while pos < last {
            if let Some((value, end)) = self.frequent_value(pos, last)? {
                self.stack.push(value);
                pos = end;
                continue;
            }
            let head = [self.feed.buf[pos], self.feed.buf[pos + 1], self.feed.buf[pos + 2]];
            match head[0] {
                opcode::MARK => {
                    self.marks.push(self.stack.len());
                    pos += 1;
                }
                opcode::MEMOIZE => {
                    // Without a value above the topmost MARK this is an error, which `step` reports.
                    let Ok(top) = self.top("MEMOIZE") else { break };
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
                        pos = self.known_dict(pos + 2, last)?;
                    }
                }
                opcode::EMPTY_LIST => {
                    let list = self.sink.list()?;
                    self.stack.push(Value::reference(Kind::List, list));
                    pos += 1;
                }
                opcode::TUPLE2 => {
                    let Ok(at) = self.below_top(2, "TUPLE2") else { break };
                    let tuple = self.tuple(at)?;
                    self.stack.push(tuple);
                    pos += 1;
                }
                opcode::SETITEMS | opcode::APPENDS => {
                    // The sink may refuse what it gets, and the error names the opcode's place.
                    self.feed.pos = pos;
                    self.op_start = self.feed.offset();
                    self.fill(head[0], if head[0] == opcode::APPENDS { "APPENDS" } else { "SETITEMS" })?;
                    pos += 1;
                    self.note_boundary(pos);
                }
                _ => break,
            }
        }
        self.feed.pos = pos;
        Ok(())
    }

    /// The value that the opcode at `pos` pushes, and the position of the next opcode. `None` for opcodes
    /// that do something else, and for values that are rare, long or wrong.
    ///
    /// A MEMOIZE that follows is taken along only if it writes a new entry: inside a dict or list that is recognised by
    /// its bytes, references must keep their meaning to its end.
    #[inline]
    fn frequent_value(&mut self, pos: usize, last: usize) -> Result<Option<(Value, usize)>, ErrorKind> {
        // One check of bounds for all operands: opcode, length and eight bytes of a number or text.
        let Some(head) = self.feed.buf[pos..].first_chunk::<10>().copied() else { return Ok(None) };
        let [op, len, word @ ..] = head;
        Ok(match op {
            opcode::BINGET => self.memo.get(u64::from(len)).map(|value| (value, pos + 2)),
            opcode::LONG_BINGET => {
                let index = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
                self.memo.get(u64::from(index)).map(|value| (value, pos + 5))
            }
            opcode::BININT => {
                let int = i32::from_le_bytes([head[1], head[2], head[3], head[4]]);
                Some((Value::int(i64::from(int)), pos + 5))
            }
            opcode::BININT1 => Some((Value::int(i64::from(len)), pos + 2)),
            opcode::BININT2 => {
                let int = u16::from_le_bytes([head[1], head[2]]);
                Some((Value::int(i64::from(int)), pos + 3))
            }
            opcode::LONG1 if matches!(len, 1..=8) => {
                Some((Value::int(number::short_little_endian(word, len)), pos + 2 + usize::from(len)))
            }
            opcode::SHORT_BINUNICODE => {
                let end = pos + 2 + usize::from(len);
                // The text, and the opcode behind it, must be in the window.
                if last < end {
                    return Ok(None);
                }
                let text = Value::reference(Kind::Str, self.short_string(pos + 2..end, word, len)?);
                if self.feed.buf[end] == opcode::MEMOIZE && self.memo.next_is_new() {
                    self.memo.memoize(text)?;
                    return Ok(Some((text, end + 1)));
                }
                Some((text, end))
            }
            opcode::EMPTY_LIST
                if len == opcode::MEMOIZE && word[0] == opcode::MARK && runs::is_get(word[1]) =>
            {
                self.list_of_gets(pos + 3, last)?
            }
            _ => None,
        })
    }

    /// The handle of a string of up to 255 bytes; `word` holds the first eight of them.
    #[inline]
    fn short_string(
        &mut self,
        text: std::ops::Range<usize>,
        word: [u8; 8],
        len: u8,
    ) -> Result<super::Handle, ErrorKind> {
        if short_strings::MAX_LEN < len {
            return self.sink.string(&self.feed.buf[text]);
        }
        let word = short_strings::word(word, len);
        if let Some(handle) = self.short_strings.get(word, len) {
            return Ok(handle);
        }
        let handle = self.sink.string(&self.feed.buf[text])?;
        self.short_strings.insert(word, len, handle);
        Ok(handle)
    }

    /// A dict whose MARK was just passed: if its keys are known ones, take all of it. Returns the position
    /// to go on from; the stack is then as if every opcode up to there had been carried out.
    ///
    /// Only values are pushed, as the keys are known. A dict may turn out to be of another skeleton with the same first
    /// keys: then the search goes on with that one. If no skeleton fits to the end, the keys are put back between the
    /// values, and the main loop goes on from there.
    fn known_dict(&mut self, start: usize, last: usize) -> Result<usize, ErrorKind> {
        self.forget_if_replaced();
        let (at, mut pos, mut n) = (self.stack.len(), start, 0);
        let Some(mut index) =
            self.feed.buf[pos..].first_chunk().and_then(|&first| self.skeletons.find(first))
        else {
            self.learn_dict(start, last);
            return Ok(start);
        };
        loop {
            // Zeros are no opcode, so that the end of the window fits no key.
            let next = *self.feed.buf[pos..].first_chunk::<8>().unwrap_or(&[0; 8]);
            let is_end = next[0] == opcode::SETITEMS && n == self.skeletons.len(index);
            let key_len = self.skeletons.key_len(index, n, next);
            match (is_end && pos < last, key_len) {
                (true, _) => break,
                (false, Some(len)) if pos < last => {
                    let Some(end) = self.known_value(pos + len, last)? else { break };
                    (pos, n) = (end, n + 1);
                }
                _ => match self.skeletons.alternative(index, n, next) {
                    Some(other) if pos < last => index = other,
                    _ => break,
                },
            }
        }
        let is_whole = self.feed.buf[pos] == opcode::SETITEMS && n == self.skeletons.len(index) && pos < last;
        match at.checked_sub(1).and_then(|below| self.stack[below].handle(Kind::Dict)) {
            Some(dict) if is_whole => {
                debug_assert_eq!(self.stack.len(), at + n, "a value for each key");
                self.marks.pop();
                let shape = self.skeletons.confirm(index);
                self.sink.update_dict_shaped(dict, shape, &self.stack[at..])?;
                self.stack.truncate(at);
                self.note_boundary(pos + 1);
                Ok(pos + 1)
            }
            _ => {
                self.restore_keys(index, at);
                self.learn_dict(start, last);
                Ok(pos)
            }
        }
    }

    /// Forget what was recognised by bytes, if a memo entry was written again since: from then on, the same bytes mean
    /// something else. Picklers never do that, but files may.
    #[inline]
    fn forget_if_replaced(&mut self) {
        if self.known_replacements != self.memo.replacements() {
            self.known_replacements = self.memo.replacements();
            self.runs.clear();
            self.skeletons.clear();
        }
    }

    /// Push the value at `pos`, if it is a frequent one. Returns the position of the next key.
    #[inline]
    fn known_value(&mut self, pos: usize, last: usize) -> Result<Option<usize>, ErrorKind> {
        let Some((value, mut pos)) = self.frequent_value(pos, last)? else { return Ok(None) };
        self.stack.push(value);
        // A pool's id is a pair of small numbers. TUPLE2 takes both values, so the pair has to be looked for ahead.
        if let [opcode::BININT1, second, opcode::TUPLE2, after, ..] = self.feed.buf[pos..] {
            self.stack.push(Value::int(i64::from(second)));
            let tuple = self.tuple(self.stack.len() - 2)?;
            self.stack.push(tuple);
            pos += 3;
            if after == opcode::MEMOIZE && self.memo.next_is_new() {
                self.memo.memoize(tuple)?;
                pos += 1;
            }
        }
        Ok(Some(pos))
    }

    /// The dict turned out to have other keys: put those that were passed between their values.
    #[cold]
    fn restore_keys(&mut self, index: usize, at: usize) {
        let values = self.stack.split_off(at);
        let keys = self.skeletons.keys(index);
        self.stack.extend(keys.iter().zip(values).flat_map(|(&key, value)| [key, value]));
    }

    /// Remember the keys of the dict whose first key is at `start`, if it is a simple one.
    #[cold]
    fn learn_dict(&mut self, start: usize, last: usize) {
        if !self.skeletons.may_learn() {
            return;
        }
        let Some(bytes) = self.feed.buf.get(start..last).and_then(skeleton::key_bytes) else { return };
        let keys = bytes.iter().map(|key| self.memo.get(key.memo_index())).collect::<Option<Vec<Value>>>();
        if let Some(keys) = keys
            && let Some(shape) = self.sink.shape(&keys)
        {
            self.skeletons.insert(Skeleton { bytes, keys, shape });
        }
    }

    /// A new list whose items are all memo entries: the references from `start` on, including the APPENDS. Returns the
    /// list and the position behind it; `None` if it is another kind of list.
    ///
    /// Such lists are the stacks of a trace, more than half of a large file, and the same ones come
    /// again and again: comparing bytes recognises them without decoding. Kept out of line, so that the loop around it
    /// stays small.
    #[inline(never)]
    fn list_of_gets(&mut self, start: usize, last: usize) -> Result<Option<(Value, usize)>, ErrorKind> {
        // The list is memoized before it is filled, so it must not take the place of one of its items.
        if !self.memo.next_is_new() {
            return Ok(None);
        }
        self.forget_if_replaced();
        let Some(window) = self.feed.buf.get(start..last) else { return Ok(None) };
        let known = self.runs.expected(window).or_else(|| self.runs.find(window));
        if let Some((len, contents)) = known {
            let list = Value::reference(Kind::List, self.sink.repeat_list(contents)?);
            self.memo.memoize(list)?;
            return Ok(Some((list, start + len)));
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
        if let Some(contents) = self.sink.list_contents(list) {
            self.runs.insert(&self.feed.buf[start..start + len], contents);
        }
        Ok(Some((Value::reference(Kind::List, list), start + len)))
    }
}
