//! Text as UTF-8 where its first bytes say that it is something else: PowerShell's `>` writes UTF-16, and editors put a mark
//! before UTF-8.

use std::io::{self, Read};

/// Bytes that are decoded at a time.
const BLOCK_BYTES: usize = 8 << 10;

/// Bytes that say what a text is.
const MARK_BYTES: usize = 3;

/// A reader of text as UTF-8, without a mark. What has no mark passes unchanged, pickles and compressed files, too.
#[derive(Debug)]
pub struct Utf8<R> {
    inner: R,
    form: Option<Form>,
    /// Bytes that were read and are not given yet.
    ready: io::Cursor<Vec<u8>>,
    /// The start of a character whose rest was not read yet.
    begun: Vec<u8>,
    /// An error behind what is ready.
    failure: Option<io::Error>,
}

#[derive(Debug, Clone, Copy)]
enum Form {
    AsItIs,
    /// From two bytes to a unit.
    Utf16(fn([u8; 2]) -> u16),
}

impl<R: Read> Utf8<R> {
    /// Text from a reader at its start.
    pub fn new(inner: R) -> Self {
        Self { inner, form: None, ready: io::Cursor::default(), begun: Vec::new(), failure: None }
    }

    /// What the first bytes say.
    fn look(&mut self) -> Form {
        let mut head = Vec::with_capacity(MARK_BYTES);
        self.failure = self.inner.by_ref().take(MARK_BYTES as u64).read_to_end(&mut head).err();
        let (form, mark_bytes) = match head[..] {
            [0xef, 0xbb, 0xbf] => (Form::AsItIs, 3),
            [0xff, 0xfe, ..] => (Form::Utf16(u16::from_le_bytes), 2),
            [0xfe, 0xff, ..] => (Form::Utf16(u16::from_be_bytes), 2),
            _ => (Form::AsItIs, 0),
        };
        let rest = head.split_off(mark_bytes);
        match form {
            Form::AsItIs => self.ready = io::Cursor::new(rest),
            Form::Utf16(_) => self.begun = rest,
        }
        form
    }

    /// Decode a block. Returns whether the input has ended.
    fn decode(&mut self, unit: fn([u8; 2]) -> u16) -> io::Result<bool> {
        let mut block = [0; BLOCK_BYTES];
        let n = self.inner.read(&mut block)?;
        self.begun.extend_from_slice(&block[..n]);
        let mut units: Vec<u16> = self.begun.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        // The second half of a pair may be in the next block.
        if n != 0 {
            units.pop_if(|last| (0xd800..0xdc00).contains(last));
        }
        self.begun.drain(..2 * units.len());
        let text: String =
            char::decode_utf16(units).map(|found| found.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        self.ready = io::Cursor::new(text.into_bytes());
        Ok(n == 0)
    }
}

impl<R: Read> Read for Utf8<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let form = self.form.unwrap_or_else(|| self.look());
        self.form = Some(form);
        loop {
            let n = self.ready.read(out)?;
            if n != 0 || out.is_empty() {
                return Ok(n);
            }
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            match form {
                Form::AsItIs => return self.inner.read(out),
                Form::Utf16(unit) => {
                    if self.decode(unit)? && self.ready.get_ref().is_empty() {
                        return Ok(0);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, then an error if there is one.
    struct Slowly<'a>(&'a [u8], Option<io::Error>);

    impl Read for Slowly<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            match self.0.split_off_first() {
                Some(byte) => {
                    out[0] = *byte;
                    Ok(1)
                }
                None => self.1.take().map_or(Ok(0), Err),
            }
        }
    }

    fn read(bytes: &[u8]) -> Vec<u8> {
        let (mut at_once, mut slowly) = (Vec::new(), Vec::new());
        Utf8::new(bytes).read_to_end(&mut at_once).expect("memory can be read");
        Utf8::new(Slowly(bytes, None)).read_to_end(&mut slowly).expect("memory can be read");
        assert_eq!(at_once, slowly);
        at_once
    }

    fn utf16(text: &str, mark: [u8; 2], bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        mark.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect()
    }

    #[test]
    fn text_is_utf8_whatever_it_was() {
        let text = "{\"a\": \"größer 🦀\"}".repeat(2_000);
        for bytes in [
            text.clone().into_bytes(),
            format!("\u{feff}{text}").into_bytes(),
            utf16(&text, [0xff, 0xfe], u16::to_le_bytes),
            utf16(&text, [0xfe, 0xff], u16::to_be_bytes),
        ] {
            assert_eq!(read(&bytes), text.as_bytes());
        }
    }

    #[test]
    fn what_has_no_mark_passes_and_what_is_cut_gives_what_is_there() {
        for bytes in [&b""[..], b"x", b"\xef\xbb", b"\x80\x04\x95\xff\xfe", b"\x1f\x8b\x08"] {
            assert_eq!(read(bytes), bytes);
        }
        assert_eq!(read(b"\xff\xfe"), b"");
        assert_eq!(read(b"\xff\xfea"), b"");
        assert_eq!(read(b"\xff\xfea\0b"), b"a");
        // A half of a pair alone.
        assert_eq!(read(b"\xff\xfe\x3d\xd8a\0\x3d\xd8"), "\u{fffd}a\u{fffd}".as_bytes());
    }

    #[test]
    fn bytes_before_an_error_come_first() {
        for (bytes, expected) in [(&b"ab"[..], "ab"), (b"\xff\xfea\0b\0", "ab"), (b"abcdef", "abcdef")] {
            let mut found = Vec::new();
            let error =
                Utf8::new(Slowly(bytes, Some(io::ErrorKind::TimedOut.into()))).read_to_end(&mut found);
            assert_eq!(error.map_err(|error| error.kind()), Err(io::ErrorKind::TimedOut));
            assert_eq!(found, expected.as_bytes());
        }
    }
}
