//! Opcodes that push a new scalar, string or container.

use super::feed::ChunkSource;
use super::machine::Machine;
use super::memo::MemoTable;
use super::{ErrorKind, Kind, Sink, Value, number, opcode, text};

impl<S: ChunkSource, K: Sink, M: MemoTable> Machine<'_, S, K, M> {
    /// Opcodes that push a new scalar, string or container.
    #[inline]
    pub(super) fn construct(&mut self, byte: u8, op: &'static str) -> Result<(), ErrorKind> {
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
                opcode::STRING => text::unquote(line),
                opcode::UNICODE => text::raw_unicode_escape(line),
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
}
