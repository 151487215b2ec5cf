//! Interned strings.

use super::StrId;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::borrow::Cow;
use std::hash::BuildHasher as _;

/// The most bytes of a text that mean anything: twice the longest path of Linux. Every frame, event and annotation is read several
/// times, and thousands of them may share a text of megabytes.
pub const MAX_MEANT_BYTES: usize = 8192;

/// Every distinct string of the file once, in one buffer.
///
/// Contents are the pickle's bytes: UTF-8, except that Python may put lone surrogates there. Whoever reads meaning from a text
/// takes [`name`](Self::name) or [`path`](Self::path), which are bounded; the whole text is for writers alone.
#[derive(Debug, Default, Clone)]
pub struct StringTable {
    bytes: Vec<u8>,
    /// The end of each string in `bytes`; a string starts at the end of the one before it.
    ends: Vec<usize>,
    /// Ids by hash. The strings themselves are only in `bytes`.
    lookup: HashTable<u32>,
    /// Seeded per table, so that a file cannot be built to make every lookup collide.
    hasher: RandomState,
}

impl StringTable {
    /// The id of `text`, added if it is new. The flag is true if it was new.
    #[inline]
    pub fn intern(&mut self, text: &[u8]) -> (StrId, bool) {
        let hash = self.hasher.hash_one(text);
        let (bytes, ends) = (&self.bytes, &self.ends);
        if let Some(&id) = self.lookup.find(hash, |&id| slice(bytes, ends, id) == text) {
            return (StrId(id), false);
        }
        let id = self.ends.len() as u32;
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        let (bytes, ends, hasher) = (&self.bytes, &self.ends, &self.hasher);
        self.lookup.insert_unique(hash, id, |&id| hasher.hash_one(slice(bytes, ends, id)));
        (StrId(id), true)
    }

    /// All bytes of a string, however many: for those who write it, or read each different string once.
    pub fn whole_bytes(&self, id: StrId) -> &[u8] {
        slice(&self.bytes, &self.ends, id.0)
    }

    /// All of a string as text, for the same; bytes that are not UTF-8 become replacement characters.
    pub fn whole(&self, id: StrId) -> Cow<'_, str> {
        String::from_utf8_lossy(self.whole_bytes(id))
    }

    /// Whether a string is exactly this one.
    #[inline]
    pub fn is(&self, id: StrId, text: &[u8]) -> bool {
        self.whole_bytes(id) == text
    }

    /// A string as the path of a file, for code that reads meaning from it: of more than 8 KiB the last ones.
    pub fn path(&self, id: StrId) -> Cow<'_, str> {
        let bytes = self.whole_bytes(id);
        String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(MAX_MEANT_BYTES)..])
    }

    /// A string as a name of anything, for code that reads meaning from it: of more than 8 KiB the first ones.
    pub fn name(&self, id: StrId) -> Cow<'_, str> {
        String::from_utf8_lossy(self.name_bytes(id))
    }

    /// The bytes of [`Self::name`].
    pub fn name_bytes(&self, id: StrId) -> &[u8] {
        let bytes = self.whole_bytes(id);
        &bytes[..bytes.len().min(MAX_MEANT_BYTES)]
    }

    /// Number of distinct strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there is no string at all.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of text held.
    pub fn text_bytes(&self) -> usize {
        self.bytes.len()
    }
}

fn slice<'a>(bytes: &'a [u8], ends: &[usize], id: u32) -> &'a [u8] {
    let i = id as usize;
    let start = if i == 0 { 0 } else { ends[i - 1] };
    &bytes[start..ends[i]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_share_an_id() {
        let mut table = StringTable::default();
        let (a, new_a) = table.intern(b"addr");
        let (empty, _) = table.intern(b"");
        let (b, new_b) = table.intern(b"addr");
        assert_eq!((a, new_a, new_b), (b, true, false));
        assert_eq!(table.whole(empty), "");
        assert_eq!(table.whole(a), "addr");
        assert_eq!(table.len(), 2);
    }

    #[test]
    fn short_strings_are_told_apart() {
        let mut table = StringTable::default();
        let texts: [&[u8]; 7] = [b"", b"\0", b"\xff", b"\xff\0", b"abcdefg", b"abcdefgh", b"N/A"];
        let first: Vec<StrId> = texts.iter().map(|text| table.intern(text).0).collect();
        let second: Vec<StrId> = texts.iter().map(|text| table.intern(text).0).collect();
        assert_eq!(first, second);
        assert_eq!(table.len(), texts.len());
    }

    #[test]
    fn of_long_strings_the_end_of_a_path_and_the_start_of_a_name_are_read() {
        let mut table = StringTable::default();
        let long = [&b"start/"[..], &[b'x'; 2 * MAX_MEANT_BYTES], b"/end.py"].concat();
        let (id, _) = table.intern(&long);
        let (path, name) = (table.path(id), table.name(id));
        assert!(path.ends_with("/end.py") && name.starts_with("start/x"));
        assert_eq!((path.len(), name.len()), (MAX_MEANT_BYTES, MAX_MEANT_BYTES));
        let (short, _) = table.intern("/é/a.py".as_bytes());
        assert_eq!((table.path(short), table.name(short)), (table.whole(short), table.whole(short)));
    }

    #[test]
    fn bytes_that_are_not_text_can_still_be_shown() {
        let mut table = StringTable::default();
        let (id, _) = table.intern(b"a\xed\xa0\x80b");
        assert!(table.whole(id).starts_with('a'));
    }
}
