//! Halves of surrogate pairs that stand alone.
//!
//! Python writes them for bytes of a file's name that are not UTF-8, and no text of Rust can hold them. They become replacement
//! characters, whose escape is as long.

/// Bytes of an escape such as `\\u00e9`.
const ESCAPE_BYTES: usize = 6;

/// The digits of U+FFFD.
const REPLACEMENT: &[u8; 4] = b"fffd";

/// Bytes from a backslash on, which wait until it is known whether a half has its other half.
#[derive(Debug, Default)]
pub(super) struct Escapes {
    bytes: [u8; 2 * ESCAPE_BYTES],
    len: usize,
    /// How many of the first bytes are known to be as they should be.
    settled: usize,
}

impl Escapes {
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Add the byte that follows.
    pub(super) fn push(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
        self.settle();
    }

    /// Whether more must be read before the first byte is known.
    pub(super) fn needs_more(&self) -> bool {
        self.settled == 0 && self.len < self.bytes.len()
    }

    /// The first byte, also where nothing follows.
    pub(super) fn pop(&mut self) -> Option<u8> {
        let first = *self.bytes[..self.len].first()?;
        self.bytes.copy_within(1..self.len, 0);
        self.len -= 1;
        self.settled = self.settled.saturating_sub(1);
        self.settle();
        Some(first)
    }

    /// Find out about the first bytes if they are not known.
    fn settle(&mut self) {
        if self.settled != 0 {
            return;
        }
        let (this, next) = self.bytes[..self.len].split_at(self.len.min(ESCAPE_BYTES));
        self.settled = match (half(this), half(next)) {
            (Half::Unknown, _) | (Half::First, Half::Unknown) => 0,
            // The byte after a backslash is no backslash of its own.
            (Half::None, _) => this.len().min(2),
            (Half::First, Half::Second) => 2 * ESCAPE_BYTES,
            (Half::First | Half::Second, _) => {
                self.bytes[2..ESCAPE_BYTES].copy_from_slice(REPLACEMENT);
                ESCAPE_BYTES
            }
        };
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    Unknown,
    None,
    First,
    Second,
}

/// What begins here, as far as it was read.
fn half(bytes: &[u8]) -> Half {
    match bytes {
        [] | [b'\\'] | [b'\\', b'u'] | [b'\\', b'u', b'd' | b'D'] => Half::Unknown,
        [b'\\', b'u', b'd' | b'D', digit, rest @ ..] => {
            let is_first = matches!(digit, b'8' | b'9' | b'a' | b'b' | b'A' | b'B');
            let is_second = matches!(digit, b'c'..=b'f' | b'C'..=b'F');
            let is_hex = rest.iter().all(u8::is_ascii_hexdigit);
            match rest.len() {
                _ if !is_hex || !(is_first || is_second) => Half::None,
                2 if is_first => Half::First,
                2 => Half::Second,
                _ => Half::Unknown,
            }
        }
        _ => Half::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(text: &str) -> String {
        let (mut out, mut bytes) = (Vec::new(), text.bytes());
        let mut escapes = Escapes::default();
        loop {
            if escapes.is_empty() {
                match bytes.next() {
                    Some(b'\\') => escapes.push(b'\\'),
                    Some(byte) => {
                        out.push(byte);
                        continue;
                    }
                    None => return String::from_utf8(out).expect("ASCII"),
                }
            }
            while escapes.needs_more() {
                let Some(byte) = bytes.next() else { break };
                escapes.push(byte);
            }
            out.extend(escapes.pop());
        }
    }

    #[test]
    fn halves_alone_are_replaced_and_pairs_stay() {
        for (text, expected) in [
            (r"a\udce9b", r"a\ufffdb"),
            (r"\ud800.", r"\ufffd."),
            (r"\uD83D\uDE00!", r"\uD83D\uDE00!"),
            (r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00"),
            (r"\ud83dx\ude00", r"\ufffdx\ufffd"),
            (r"\ud83d\n", r"\ufffd\n"),
            (r"\ud83d\\ude00", r"\ufffd\\ude00"),
        ] {
            assert_eq!(through(text), expected, "{text}");
        }
    }

    #[test]
    fn everything_else_stays() {
        for text in
            [r"\\ud800", r"\n\t\\", r"\u00e9\ud7ff\ue000", r"\ud8", r"\ud83d\ud", "\\", r"\uDxyz", r"\ud8zz"]
        {
            assert_eq!(through(text), text);
        }
    }
}
