//! Short strings that come again and again, such as the empty one in every event.

use super::Handle;

/// Places for strings.
const PLACES: usize = 64;

/// The longest string that is remembered, in bytes.
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
    let mask = u64::MAX.checked_shr(64 - bits).unwrap_or(0);
    u64::from_le_bytes(bytes) & mask
}

impl ShortStrings {
    #[inline]
    pub(super) fn get(&self, word: u64, len: u8) -> Option<Handle> {
        let (known, known_len, handle) = self.places[place(word, len)]?;
        (known == word && known_len == len).then_some(handle)
    }

    pub(super) fn insert(&mut self, word: u64, len: u8, handle: Handle) {
        self.places[place(word, len)] = Some((word, len, handle));
    }
}

#[inline]
fn place(word: u64, len: u8) -> usize {
    (word.wrapping_add(u64::from(len)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_that_differ_only_in_length_are_told_apart() {
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
