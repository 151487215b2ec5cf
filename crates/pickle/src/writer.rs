//! A streaming writer of pickles that hold only plain data.
//!
//! It writes protocol 4 with the few opcodes that every reader of snapshots knows, the browser viewer's included. What
//! is used again is memoized and referred to, so that shared parts stay shared for whoever reads the pickle.

use super::opcode;
use std::io::{self, Write};

/// The protocol: the first with short strings and MEMOIZE, and the last that the browser viewer takes.
const PROTOCOL: u8 = 4;

/// Items that a list gets at once, as from Python's pickler (`_BATCHSIZE` in `Lib/pickle.py`). The browser viewer passes a batch
/// as the arguments of one call, which may not be many more.
pub const BATCH_ITEMS: usize = 1000;

/// The name of a memoized value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoId(u32);

/// Writes one pickle. Values are written in the order of the stack machine: a container first, then a mark, its items, and the
/// opcode that moves them into it.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    memoized: u32,
}

impl<W: Write> Writer<W> {
    /// Begin a pickle.
    ///
    /// # Errors
    /// Those of `out`, as for all methods.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&[opcode::PROTO, PROTOCOL])?;
        Ok(Self { out, memoized: 0 })
    }

    /// End the pickle with the value that was written last.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn finish(mut self) -> io::Result<W> {
        self.op(opcode::STOP)?;
        Ok(self.out)
    }

    /// Remember the value that was written last.
    ///
    /// # Errors
    /// Those of `out`, or if the memo is full.
    pub fn memoize(&mut self) -> io::Result<MemoId> {
        let id = MemoId(self.memoized);
        self.memoized =
            id.0.checked_add(1)
                .ok_or_else(|| io::Error::other("too many different values for one pickle"))?;
        self.op(opcode::MEMOIZE)?;
        Ok(id)
    }

    /// Write a memoized value again, as a reference.
    ///
    /// # Errors
    /// Those of `out`.
    #[inline]
    pub fn get(&mut self, MemoId(id): MemoId) -> io::Result<()> {
        match u8::try_from(id) {
            Ok(id) => self.out.write_all(&[opcode::BINGET, id]),
            Err(_) => self.with_argument(opcode::LONG_BINGET, id.to_le_bytes()),
        }
    }

    /// `None`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn none(&mut self) -> io::Result<()> {
        self.op(opcode::NONE)
    }

    /// `True` or `False`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn bool(&mut self, value: bool) -> io::Result<()> {
        self.op(if value { opcode::NEWTRUE } else { opcode::NEWFALSE })
    }

    /// An int.
    ///
    /// # Errors
    /// Those of `out`.
    #[inline]
    pub fn int(&mut self, value: i64) -> io::Result<()> {
        if let Ok(short) = u8::try_from(value) {
            return self.out.write_all(&[opcode::BININT1, short]);
        }
        if let Ok(short) = u16::try_from(value) {
            return self.with_argument(opcode::BININT2, short.to_le_bytes());
        }
        if let Ok(short) = i32::try_from(value) {
            return self.with_argument(opcode::BININT, short.to_le_bytes());
        }
        self.long(&value.to_le_bytes())
    }

    /// An int that may need all 64 bits.
    ///
    /// # Errors
    /// Those of `out`.
    #[inline]
    pub fn uint(&mut self, value: u64) -> io::Result<()> {
        if let Ok(value) = i64::try_from(value) {
            return self.int(value);
        }
        let mut bytes = [0; 9];
        bytes[..8].copy_from_slice(&value.to_le_bytes());
        self.long(&bytes)
    }

    /// LONG1 with as few of the bytes as keep the sign.
    fn long(&mut self, bytes: &[u8]) -> io::Result<()> {
        let fill = if bytes.last().is_some_and(|last| last & 0x80 != 0) { 0xff } else { 0 };
        let is_spare = |len: usize| bytes[len - 1] == fill && (bytes[len - 2] ^ fill) & 0x80 == 0;
        let mut len = bytes.len();
        while 1 < len && is_spare(len) {
            len -= 1;
        }
        self.out.write_all(&[opcode::LONG1, len as u8])?;
        self.out.write_all(&bytes[..len])
    }

    /// A float.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn float(&mut self, value: f64) -> io::Result<()> {
        self.with_argument(opcode::BINFLOAT, value.to_be_bytes())
    }

    /// A `str` of these bytes.
    ///
    /// # Errors
    /// Those of `out`, or if the text has 4 GiB or more.
    pub fn text(&mut self, text: &[u8]) -> io::Result<()> {
        if let Ok(len) = u8::try_from(text.len()) {
            self.out.write_all(&[opcode::SHORT_BINUNICODE, len])?;
        } else {
            let len = u32::try_from(text.len()).map_err(io::Error::other)?;
            self.with_argument(opcode::BINUNICODE, len.to_le_bytes())?;
        }
        self.out.write_all(text)
    }

    /// A new, empty list.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn empty_list(&mut self) -> io::Result<()> {
        self.op(opcode::EMPTY_LIST)
    }

    /// A new, empty dict.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn empty_dict(&mut self) -> io::Result<()> {
        self.op(opcode::EMPTY_DICT)
    }

    /// The place from which [`Self::append`] and [`Self::set_items`] take values.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn mark(&mut self) -> io::Result<()> {
        self.op(opcode::MARK)
    }

    /// Append the values since the mark to the list before it: at most [`BATCH_ITEMS`].
    ///
    /// # Errors
    /// Those of `out`.
    pub fn append(&mut self) -> io::Result<()> {
        self.op(opcode::APPENDS)
    }

    /// Set the pairs since the mark, keys and values in turn, in the dict before it.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn set_items(&mut self) -> io::Result<()> {
        self.op(opcode::SETITEMS)
    }

    /// Make a tuple of the last two values.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn pair(&mut self) -> io::Result<()> {
        self.op(opcode::TUPLE2)
    }

    /// Make a tuple of the values since the mark.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn tuple(&mut self) -> io::Result<()> {
        self.op(opcode::TUPLE)
    }

    #[inline]
    fn op(&mut self, opcode: u8) -> io::Result<()> {
        self.out.write_all(&[opcode])
    }

    #[inline]
    fn with_argument<const N: usize>(&mut self, opcode: u8, argument: [u8; N]) -> io::Result<()> {
        self.op(opcode)?;
        self.out.write_all(&argument)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_pickle::{DeOptions, Value};

    fn written(write: impl FnOnce(&mut Writer<Vec<u8>>) -> io::Result<()>) -> Value {
        let mut writer = Writer::new(Vec::new()).expect("memory can be written");
        write(&mut writer).expect("memory can be written");
        let bytes = writer.finish().expect("memory can be written");
        serde_pickle::value_from_slice(&bytes, DeOptions::new()).expect("a pickle")
    }

    #[test]
    fn ints_of_every_length_are_read_back() {
        let around = |bits: u32| [-1i64, 0, 1].map(|d| (1i64 << bits).wrapping_add(d));
        for value in (0..64).flat_map(around).flat_map(|value| [value, value.wrapping_neg()]) {
            assert_eq!(written(|w| w.int(value)), Value::I64(value), "{value}");
        }
        assert_eq!(written(|w| w.uint(5)), Value::I64(5));
        assert_eq!(written(|w| w.uint(u64::MAX)).to_string(), u64::MAX.to_string());
        assert_eq!(written(|w| w.uint(1 << 63)).to_string(), (1u64 << 63).to_string());
    }

    #[test]
    fn containers_and_references_are_read_back() {
        let value = written(|w| {
            w.empty_dict()?;
            w.mark()?;
            w.text(b"a")?;
            let key = w.memoize()?;
            w.empty_list()?;
            w.mark()?;
            w.none()?;
            w.float(1.5)?;
            w.bool(true)?;
            w.get(key)?;
            w.text(&[b'x'; 300])?;
            w.append()?;
            w.set_items()
        });
        assert_eq!(
            value.to_string(),
            format!("{{\"a\": [None, 1.5, True, \"a\", \"{}\"]}}", "x".repeat(300))
        );
    }

    #[test]
    fn references_beyond_a_byte_are_read_back() {
        let value = written(|w| {
            w.empty_list()?;
            w.mark()?;
            let mut last = None;
            for i in 0..300 {
                w.text(format!("t{i}").as_bytes())?;
                last = Some(w.memoize()?);
            }
            last.map_or(Ok(()), |last| w.get(last))?;
            w.append()
        });
        assert!(value.to_string().ends_with("\"t299\", \"t299\"]"));
    }
}
