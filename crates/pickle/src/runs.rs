//! Lists that are written as nothing but memo references, recognised by their bytes.

use super::opcode;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher as _;

/// The most bytes of runs that are remembered. It bounds memory where stacks do not repeat; further runs are decoded.
const MAX_BYTES: usize = 32 << 20;

/// One remembered run.
#[derive(Debug, Clone, Copy)]
struct Run {
    start: usize,
    end: usize,
    /// The sink's name for the contents of the list.
    contents: u32,
}

/// Places for predictions: 64 KiB, which stay in the second-level cache.
const PREDICTIONS: usize = 1 << 14;

/// Known runs. Training repeats itself, so the same few runs are mostly followed by the same one: the prediction is
/// compared first, which saves hashing.
#[derive(Debug)]
pub(super) struct Runs {
    bytes: Vec<u8>,
    known: Vec<Run>,
    lookup: HashTable<u32>,
    hasher: RandomState,
    /// The run that followed last time, by [`Self::context`].
    predictions: Vec<u32>,
    /// A hash of the latest few runs.
    context: usize,
}

impl Default for Runs {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            known: Vec::new(),
            lookup: HashTable::new(),
            hasher: RandomState::default(),
            // No run has this number, so that nothing is predicted.
            predictions: vec![u32::MAX; PREDICTIONS],
            context: 0,
        }
    }
}

impl Runs {
    /// Length and contents of the run at the start of the window, if it is the predicted one.
    #[inline]
    pub(super) fn expected(&mut self, window: &[u8]) -> Option<(usize, u32)> {
        let id = self.predictions[self.context];
        let run = *self.known.get(id as usize)?;
        let len = run.end - run.start;
        if *window.get(..len)? != self.bytes[run.start..run.end] {
            return None;
        }
        self.advance(id);
        Some((len, run.contents))
    }

    /// Length and contents of the run at the start of the window, if it was seen before.
    pub(super) fn find(&mut self, window: &[u8]) -> Option<(usize, u32)> {
        let run = &window[..length(window)?];
        let (runs, bytes) = (&self.known, &self.bytes);
        let is_same = |&id: &u32| bytes[runs[id as usize].start..runs[id as usize].end] == *run;
        let id = *self.lookup.find(self.hasher.hash_one(run), is_same)?;
        self.follow(id);
        Some((run.len(), self.known[id as usize].contents))
    }

    /// Remember a run that is not known yet.
    pub(super) fn insert(&mut self, run: &[u8], contents: u32) {
        debug_assert_eq!(length(run), Some(run.len()), "a run ends at its APPENDS");
        if MAX_BYTES < self.bytes.len() + run.len() {
            return;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(run);
        let id = self.known.len() as u32;
        self.known.push(Run { start, end: self.bytes.len(), contents });
        let (runs, bytes, hasher) = (&self.known, &self.bytes, &self.hasher);
        let hash = |id: &u32| hasher.hash_one(&bytes[runs[*id as usize].start..runs[*id as usize].end]);
        self.lookup.insert_unique(hasher.hash_one(run), id, hash);
        self.follow(id);
    }

    /// Bytes of memory that the runs take.
    pub(super) fn held_bytes(&self) -> usize {
        let predictions = size_of_val(&*self.predictions);
        self.bytes.len() + size_of_val(&*self.known) + self.lookup.allocation_size() + predictions
    }

    /// Forget everything.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Predict the run for the next time that the same runs come before it.
    fn follow(&mut self, id: u32) {
        self.predictions[self.context] = id;
        self.advance(id);
    }

    /// Shift a run into the context. At three bits per run, it leaves the 14 bits after five more.
    #[inline]
    fn advance(&mut self, id: u32) {
        // Knuth's multiplier spreads consecutive numbers over all bits but the lowest, which are dropped.
        let mixed = (id as usize).wrapping_mul(0x9e37_79b1) >> 7;
        self.context = ((self.context << 3) ^ mixed) & (PREDICTIONS - 1);
    }
}

/// Whether an opcode pushes a memo entry in the binary protocols.
#[inline]
pub(super) fn is_get(byte: u8) -> bool {
    matches!(byte, opcode::BINGET | opcode::LONG_BINGET)
}

/// The length of the run at the start of the window, including its APPENDS. `None` if something other than memo
/// references comes, or the window ends first.
pub(super) fn length(window: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match *window.get(at)? {
            opcode::BINGET => at += 2,
            opcode::LONG_BINGET => at += 5,
            opcode::APPENDS => return Some(at + 1),
            _ => return None,
        }
    }
}

/// The memo entries that a run refers to.
pub(super) fn indices(run: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || match *run.get(at)? {
        opcode::BINGET => {
            at += 2;
            run.get(at - 1).map(|&index| u64::from(index))
        }
        opcode::LONG_BINGET => {
            at += 5;
            run.get(at - 4..at)?.first_chunk().map(|&index| u64::from(u32::from_le_bytes(index)))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &[u8] = b"h\x05j\x65\x00\x01\x00h\x65e";
    const B: &[u8] = b"h\x07e";

    #[test]
    fn a_run_ends_at_its_appends_and_not_at_an_index_that_looks_like_it() {
        assert_eq!(length(&[A, b"rest"].concat()), Some(A.len()));
        assert_eq!(indices(A).collect::<Vec<_>>(), [5, 0x10065, 0x65]);
        assert_eq!(length(b"h\x05}"), None);
        assert_eq!(length(b"h\x05j\x01"), None);
    }

    #[test]
    fn runs_are_found_and_then_expected_in_their_order() {
        let mut runs = Runs::default();
        assert_eq!(runs.find(A), None);
        runs.insert(A, 10);
        runs.insert(B, 20);
        for _ in 0..8 {
            assert_eq!(runs.find(A), Some((A.len(), 10)));
            assert_eq!(runs.find(B), Some((B.len(), 20)));
        }
        assert_eq!(runs.expected(&[A, b"more"].concat()), Some((A.len(), 10)));
        assert_eq!(runs.expected(b"h\x09e"), None);
        assert_eq!(runs.expected(B), Some((B.len(), 20)));
        runs.clear();
        assert_eq!(runs.find(B), None);
    }
}
