//! A small cache of short strings that come again and again, such as the empty one in every event.

use super::Handle;

/// Places for strings: 1.5 KiB, which stay in the first-level cache.
const PLACES: usize = 64;

/// The longest string that is remembered, in bytes: those that fit into one word.
pub(super) const MAX_LEN: u8 = 8;

/// The handles of recent short strings, by a part of their bits.
#[derive(Debug)]
pub(super) struct ShortStrings {
    places: [Option<(u64, u8, Handle)>; PLACES],
}

impl Default for ShortStrings {
    fn default() -> Self {
        Self { places: [None; PLACES] }
    }
}

/// The string in the first `len` bytes of `bytes`, 0 to 8, as a number.
#[inline]
pub(super) fn word(bytes: [u8; 8], len: u8) -> u64 {
    let bits = u32::from(len) * 8;
    // A shift by 64, for the empty string, would overflow.
    let mask = u64::MAX.checked_shr(64 - bits).unwrap_or(0);
    u64::from_le_bytes(bytes) & mask
}

impl ShortStrings {
    /// The handle of a string, if it was not displaced by another.
    #[inline]
    pub(super) fn get(&self, word: u64, len: u8) -> Option<Handle> {
        let (known, known_len, handle) = self.places[place(word, len)]?;
        (known == word && known_len == len).then_some(handle)
    }

    /// Remember a string, in place of another one that has the same place.
    pub(super) fn insert(&mut self, word: u64, len: u8, handle: Handle) {
        self.places[place(word, len)] = Some((word, len, handle));
    }
}

/// The place of a string: the upper six bits of a multiplicative hash (2^64 over the golden ratio).
#[inline]
fn place(word: u64, len: u8) -> usize {
    (word.wrapping_add(u64::from(len)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_that_differ_only_in_length_are_different() {
        let mut strings = ShortStrings::default();
        let texts: [&[u8]; 4] = [b"", b"\0", b"\0\0", b"N/A"];
        for (i, text) in texts.iter().enumerate() {
            let mut bytes = *b"12345678";
            bytes[..text.len()].copy_from_slice(text);
            let len = text.len() as u8;
            assert_eq!(strings.get(word(bytes, len), len), None);
            strings.insert(word(bytes, len), len, Handle(i as u32));
            assert_eq!(strings.get(word(bytes, len), len), Some(Handle(i as u32)));
        }
        assert_eq!(word(*b"12345678", 8), u64::from_le_bytes(*b"12345678"));
    }
}
