//! The keys of dicts that come again and again, recognised by their bytes.
//!
//! A trace is a list of dicts with the same keys, and picklers write each key as the same memo
//! reference. Knowing the next key's bytes in advance saves decoding it, and saves the sink from
//! looking at keys at all.

use super::{Value, opcode, runs};

/// The most skeletons that are remembered. Recordings have about ten; the search goes through all of them.
const MAX_SKELETONS: usize = 16;

/// Attempts to learn a skeleton without success, after which no more are made: a file of dicts that cannot be learned
/// would pay for each of them.
const MAX_ATTEMPTS: u32 = 1000;

/// The most keys of a dict that is remembered. Events have at most 13.
const MAX_KEYS: usize = 24;

/// A memo reference of two or five bytes, compared with the input as one masked word instead of byte by byte.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyBytes {
    word: u64,
    mask: u64,
    pub(super) len: usize,
}

impl KeyBytes {
    fn new(bytes: &[u8]) -> Self {
        debug_assert!(matches!(bytes.len(), 2 | 5), "a memo reference");
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let mask = (1 << (8 * bytes.len())) - 1;
        Self { word: u64::from_le_bytes(word), mask, len: bytes.len() }
    }

    /// The memo entry that the bytes refer to: all of them but the opcode, which comes first.
    pub(super) fn memo_index(&self) -> u64 {
        self.word >> 8
    }

    fn to_bytes(self) -> Vec<u8> {
        self.word.to_le_bytes()[..self.len].to_vec()
    }

    /// Whether the next eight bytes of the input begin with this reference.
    #[inline]
    pub(super) fn is_at_start_of(&self, bytes: [u8; 8]) -> bool {
        u64::from_le_bytes(bytes) & self.mask == self.word
    }
}

/// The keys of a dict: as bytes, as values, and as the shape that the sink knows them by.
#[derive(Debug, Clone)]
pub(super) struct Skeleton {
    pub(super) bytes: Vec<KeyBytes>,
    pub(super) keys: Vec<Value>,
    pub(super) shape: u32,
}

/// Known skeletons.
#[derive(Debug, Clone)]
pub(super) struct Skeletons {
    known: Vec<Skeleton>,
    /// The skeleton of the latest dict: in a trace, mostly that of the next one, too.
    latest: usize,
    /// Attempts to learn a skeleton that are left.
    attempts_left: u32,
}

impl Default for Skeletons {
    fn default() -> Self {
        Self { known: Vec::new(), latest: 0, attempts_left: MAX_ATTEMPTS }
    }
}

impl Skeletons {
    /// The skeleton whose first key stands at the start of `bytes`; the latest one is tried first.
    #[inline]
    pub(super) fn find(&mut self, bytes: [u8; 8]) -> Option<usize> {
        let fits = |skeleton: &Skeleton| skeleton.bytes[0].is_at_start_of(bytes);
        if !self.known.get(self.latest).is_some_and(fits) {
            self.latest = self.known.iter().position(fits)?;
        }
        Some(self.latest)
    }

    /// The length of the `n`th key of a skeleton, if it stands at the start of `bytes`.
    #[inline]
    pub(super) fn key_len(&self, index: usize, n: usize, bytes: [u8; 8]) -> Option<usize> {
        let key = self.known[index].bytes.get(n).filter(|key| key.is_at_start_of(bytes))?;
        Some(key.len)
    }

    /// Another skeleton with the same first `n` keys that goes on as `bytes` do: with a key, or with
    /// the end.
    pub(super) fn alternative(&self, index: usize, n: usize, bytes: [u8; 8]) -> Option<usize> {
        let before = &self.known[index].keys[..n];
        self.known.iter().position(|skeleton| {
            let goes_on = match skeleton.bytes.get(n) {
                Some(key) => key.is_at_start_of(bytes),
                None => skeleton.bytes.len() == n && bytes[0] == opcode::SETITEMS,
            };
            goes_on && skeleton.keys[..n] == *before
        })
    }

    /// The number of keys of a skeleton.
    #[inline]
    pub(super) fn len(&self, index: usize) -> usize {
        self.known[index].bytes.len()
    }

    /// The keys of a skeleton.
    pub(super) fn keys(&self, index: usize) -> &[Value] {
        &self.known[index].keys
    }

    /// Note that a dict was of this skeleton. Returns its shape.
    #[inline]
    pub(super) fn confirm(&mut self, index: usize) -> u32 {
        self.latest = index;
        self.known[index].shape
    }

    /// The bytes of the first key of the latest skeleton whose shape is wanted.
    pub(super) fn first_key(&self, is_wanted: impl Fn(u32) -> bool) -> Option<Vec<u8>> {
        let latest = self.known.get(self.latest);
        let skeleton = latest.into_iter().chain(&self.known).find(|known| is_wanted(known.shape))?;
        skeleton.bytes.first().map(|key| key.to_bytes())
    }

    /// Whether to try to learn another one. Counts as an attempt.
    pub(super) fn may_learn(&mut self) -> bool {
        self.attempts_left = self.attempts_left.saturating_sub(1);
        self.attempts_left != 0 && self.known.len() < MAX_SKELETONS
    }

    /// Remember a skeleton.
    pub(super) fn insert(&mut self, skeleton: Skeleton) {
        if !self.known.iter().any(|known| known.keys == skeleton.keys) {
            debug_assert_eq!(skeleton.bytes.len(), skeleton.keys.len(), "each key has bytes and a value");
            self.known.push(skeleton);
            self.attempts_left = MAX_ATTEMPTS;
        }
    }

    /// Forget everything.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The bytes of the keys of a dict whose first key stands at the start of `window`. `None` unless all keys are memo
/// references, and all values are short scalars, strings, pairs or lists of memo references.
pub(super) fn key_bytes(window: &[u8]) -> Option<Vec<KeyBytes>> {
    let mut keys = Vec::new();
    let mut at = 0;
    while *window.get(at)? != opcode::SETITEMS {
        let len = get_len(window[at])?;
        keys.push(KeyBytes::new(window.get(at..at + len)?));
        at += len;
        at += value_len(window.get(at..)?)?;
        if MAX_KEYS < keys.len() {
            return None;
        }
    }
    (!keys.is_empty()).then_some(keys)
}

/// Length of a memo reference by its opcode.
fn get_len(byte: u8) -> Option<usize> {
    match byte {
        opcode::BINGET => Some(2),
        opcode::LONG_BINGET => Some(5),
        _ => None,
    }
}

/// Length of a value, with the MEMOIZE behind it. `None` if it is of another kind than those that the hot loop takes.
fn value_len(window: &[u8]) -> Option<usize> {
    let memoized = |len: usize| len + usize::from(window.get(len) == Some(&opcode::MEMOIZE));
    Some(match *window.first()? {
        opcode::LONG_BINGET | opcode::BININT => 5,
        opcode::BININT2 => 3,
        opcode::BININT1 if window.get(2) == Some(&opcode::BININT1) => memoized(5),
        opcode::BINGET | opcode::BININT1 => 2,
        opcode::LONG1 => 2 + usize::from(*window.get(1)?),
        opcode::SHORT_BINUNICODE => memoized(2 + usize::from(*window.get(1)?)),
        opcode::EMPTY_LIST => 3 + runs::length(window.get(3..)?)?,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_an_event_are_found_between_its_values() {
        let event = b"h\x05j\x00\x02\x00\x00h\x06\x8a\x02\x01\x02h\x07K\x00K\x01\x86\x94h\x08\x8c\x01x\x94h\x09]\x94(h\x01e\
                      j\x01\x01\x01\x00M\x01\x02u";
        let keys = key_bytes(event).unwrap();
        assert_eq!(keys.iter().map(|key| key.len).collect::<Vec<_>>(), [2, 2, 2, 2, 2, 5]);
        assert_eq!(keys[5].memo_index(), 0x10101);
        assert!(keys[5].is_at_start_of(*b"j\x01\x01\x01\x00xyz"));
        assert!(!keys[5].is_at_start_of(*b"j\x01\x01\x02\x00xyz"));
        assert!(key_bytes(b"h\x05}u").is_none());
        assert!(key_bytes(b"K\x01h\x05u").is_none());
        assert!(key_bytes(b"h\x05h\x06").is_none());
    }
}
