//! Numbers for stacks, from which colours are made: the same for the same code in every file and run.

use foldhash::HashMap;
use oomscope_model::{Frame, FrameId, Snapshot, StackId, StrId};

/// Bytes of the longest name that is hashed where it stands. A longer one is hashed once for the file, and its hash stands for
/// it: a name of megabytes in each of a thousand stacks would take minutes.
const MAX_BYTES: usize = 1024;

/// Hashes the stacks of a file.
pub(super) struct StackHasher<'s> {
    snapshot: &'s Snapshot,
    /// Hashes of the long names.
    long: HashMap<StrId, u64>,
}

impl<'s> StackHasher<'s> {
    pub(super) fn new(snapshot: &'s Snapshot) -> Self {
        let mut long = HashMap::default();
        let frames = (0..snapshot.frames.len() as u32).map(|id| snapshot.frames.get(FrameId(id)));
        for text in frames.flat_map(|frame| [frame.file, frame.name]) {
            let bytes = snapshot.strings.whole_bytes(text);
            if MAX_BYTES < bytes.len() {
                long.entry(text).or_insert_with(|| {
                    let mut hash = Fnv::default();
                    hash.feed(bytes);
                    hash.finish()
                });
            }
        }
        Self { snapshot, long }
    }

    /// A hash of the frames' files, lines and functions.
    pub(super) fn hash(&self, stack: StackId) -> u64 {
        let mut hash = Fnv::default();
        for &id in self.snapshot.stacks.frames(stack) {
            let Frame { file, line, name, .. } = self.snapshot.frames.get(id);
            self.feed(file, &mut hash);
            hash.feed(&line.to_le_bytes());
            self.feed(name, &mut hash);
        }
        hash.finish()
    }

    fn feed(&self, text: StrId, hash: &mut Fnv) {
        let bytes = self.snapshot.strings.whole_bytes(text);
        match self.long.get(&text).filter(|_| MAX_BYTES < bytes.len()) {
            Some(of_text) => hash.feed(&of_text.to_le_bytes()),
            None => hash.feed(bytes),
        }
    }
}

/// FNV-1a, mixed at the end so that all bits depend on all bytes. The hashers of hash maps are seeded
/// anew in every run, and would give other colours each time.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn feed(&mut self, bytes: &[u8]) {
        const PRIME: u64 = 0x0000_0100_0000_01b3;
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    }

    fn finish(&self) -> u64 {
        mix_bits(self.0)
    }
}

/// Mix bits so that each depends on all others: the first half of `MurmurHash3`'s finalizer.
pub(super) fn mix_bits(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits ^ (bits >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_model::StackTable;
    use std::time::{Duration, Instant};

    /// A snapshot of stacks of one frame in these functions, on so many lines.
    fn snapshot(names: &[Vec<u8>], lines: i64) -> Snapshot {
        let mut snapshot = Snapshot::default();
        let (file, _) = snapshot.strings.intern(b"a.py");
        let mut stacks = StackTable::default();
        for name in names {
            let (name, _) = snapshot.strings.intern(name);
            for line in 0..lines {
                stacks.intern(&[snapshot.frames.intern(Frame { file, line, name, fx: None }, None)]);
            }
        }
        snapshot.stacks = stacks;
        snapshot
    }

    #[test]
    fn names_of_ordinary_length_are_hashed_byte_by_byte() {
        let name = vec![b'f'; MAX_BYTES];
        let snapshot = snapshot(std::slice::from_ref(&name), 1);
        let mut expected = Fnv::default();
        expected.feed(b"a.py");
        expected.feed(&0_i64.to_le_bytes());
        expected.feed(&name);
        assert_eq!(StackHasher::new(&snapshot).hash(StackId(1)), expected.finish());
    }

    #[test]
    fn a_name_of_megabytes_in_many_stacks_is_hashed_once() {
        let mut names = [vec![b'x'; 10_000_000], vec![b'x'; 10_000_000]];
        names[1][9_999_999] = b'y';
        let snapshot = snapshot(&names, 2000);
        let start = Instant::now();
        let hasher = StackHasher::new(&snapshot);
        let hashes: std::collections::BTreeSet<u64> = (1..=4000).map(|id| hasher.hash(StackId(id))).collect();
        assert_eq!(hashes.len(), 4000, "each name and line has a number of its own");
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
}
