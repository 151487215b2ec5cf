//! The cached blocks of one pool, size class and stream, in the order of the search.

/// The most entries of a piece. Moving so few costs less than following pointers; a full piece is cut in two.
const PIECE: usize = 64;

/// A cached block, in the order of the search: size, then age of the segment, then address.
///
/// The order is that of three numbers, which are compared without branches: most of a simulation is looking for places in lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) size: u64,
    /// The age of the segment and the upper half of the address.
    high: u64,
    /// The lower half of the address and the block.
    low: u64,
}

impl Entry {
    /// A block. `created` is the number of its segment in the order of creation; 0 for versions of torch that do not look at it.
    #[inline]
    pub(super) fn new(size: u64, created: u32, addr: u64, block: u32) -> Self {
        Self {
            size,
            high: u64::from(created) << 32 | addr >> 32,
            low: (addr & u64::from(u32::MAX)) << 32 | u64::from(block),
        }
    }

    #[inline]
    pub(super) fn block(self) -> u32 {
        self.low as u32
    }

    #[inline]
    pub(super) fn is_before(&self, other: &Self) -> bool {
        let place = |entry: &Self| u128::from(entry.high) << 64 | u128::from(entry.low);
        (self.size < other.size) | ((self.size == other.size) & (place(self) < place(other)))
    }
}

/// A position in a list; valid until the list changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct At {
    piece: usize,
    entry: usize,
}

/// A sorted list in pieces.
#[derive(Debug, Clone, Default)]
pub(super) struct FreeList {
    /// No piece is empty.
    pieces: Vec<Vec<Entry>>,
}

impl FreeList {
    /// The piece in which an entry is, or belongs.
    #[inline]
    fn piece_of(&self, entry: &Entry) -> usize {
        let at = self.pieces.partition_point(|piece| piece.last().is_some_and(|last| last.is_before(entry)));
        at.min(self.pieces.len().saturating_sub(1))
    }

    #[inline]
    pub(super) fn insert(&mut self, entry: Entry) {
        if self.pieces.is_empty() {
            self.pieces.push(Vec::with_capacity(PIECE));
        }
        let at = self.piece_of(&entry);
        let piece = &mut self.pieces[at];
        let place = piece.partition_point(|other| other.is_before(&entry));
        debug_assert!(piece.get(place) != Some(&entry), "an entry is there once");
        piece.insert(place, entry);
        if PIECE <= piece.len() {
            let mut upper = Vec::with_capacity(PIECE);
            upper.extend(piece.drain(PIECE / 2..));
            self.pieces.insert(at + 1, upper);
        }
    }

    /// Take an entry out; false if it is not there.
    #[inline]
    pub(super) fn remove(&mut self, entry: &Entry) -> bool {
        if self.pieces.is_empty() {
            return false;
        }
        let at = self.piece_of(entry);
        let piece = &mut self.pieces[at];
        let place = piece.partition_point(|other| other.is_before(entry));
        if piece.get(place) != Some(entry) {
            return false;
        }
        piece.remove(place);
        if piece.is_empty() {
            self.pieces.remove(at);
        }
        true
    }

    /// The position of the first entry of at least this size.
    #[inline]
    pub(super) fn first_fit(&self, size: u64) -> Option<At> {
        let piece = self.pieces.partition_point(|piece| piece.last().is_some_and(|last| last.size < size));
        let entries = self.pieces.get(piece)?;
        Some(At { piece, entry: entries.partition_point(|entry| entry.size < size) })
    }

    /// Take the entry at a position out.
    #[inline]
    pub(super) fn take(&mut self, at: At) -> Entry {
        let piece = &mut self.pieces[at.piece];
        let entry = piece.remove(at.entry);
        if piece.is_empty() {
            self.pieces.remove(at.piece);
        }
        entry
    }

    #[inline]
    pub(super) fn get(&self, at: At) -> Entry {
        self.pieces[at.piece][at.entry]
    }

    /// The position behind another.
    pub(super) fn after(&self, at: At) -> Option<At> {
        if at.entry + 1 < self.pieces[at.piece].len() {
            Some(At { entry: at.entry + 1, ..at })
        } else {
            (at.piece + 1 < self.pieces.len()).then_some(At { piece: at.piece + 1, entry: 0 })
        }
    }

    /// All entries in order.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.pieces.iter().flatten()
    }

    /// The largest entry.
    pub(super) fn last(&self) -> Option<&Entry> {
        self.pieces.last()?.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_sorted_set(changes in proptest::collection::vec((any::<bool>(), 0u64..40, 0u32..3, 0u64..20), 0..900)) {
            let (mut list, mut set) = (FreeList::default(), BTreeSet::new());
            for (comes, size, created, addr) in changes {
                // Addresses of which the upper half or the lower one decides.
                let (addr, block) = ((addr % 3) << 31, addr as u32);
                let key = (size, created, addr, block);
                let entry_of = |&(size, created, addr, block): &_| Entry::new(size, created, addr, block);
                let entry = entry_of(&key);
                if comes && !set.contains(&key) {
                    list.insert(entry);
                    set.insert(key);
                } else if !comes {
                    prop_assert_eq!(list.remove(&entry), set.remove(&key));
                }
                let fit = set.iter().find(|other| size <= other.0);
                let found = list.first_fit(size);
                prop_assert_eq!(found.map(|at| list.get(at)), fit.map(entry_of));
                let next = found.and_then(|at| list.after(at)).map(|at| list.get(at));
                prop_assert_eq!(next, fit.and_then(|fit| set.range(fit..).nth(1)).map(entry_of));
                prop_assert_eq!(list.last().copied(), set.last().map(entry_of));
            }
            let keys = set.iter().map(|&(size, created, addr, block)| Entry::new(size, created, addr, block));
            prop_assert!(list.iter().copied().eq(keys));
        }
    }
}
