//! The cached blocks of one pool, size class and stream, in the order of the search.

/// The most entries of a piece. Moving so few costs less than following pointers; a full piece is cut in two.
const PIECE: usize = 64;

/// A cached block, in the order of the search: size, then age of the segment, then address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) size: u64,
    /// The number of its segment in the order of creation; 0 for versions of torch that do not look at it.
    pub(super) created: u32,
    pub(super) addr: u64,
    pub(super) block: u32,
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
        let at = self.pieces.partition_point(|piece| piece.last().is_some_and(|last| last < entry));
        at.min(self.pieces.len().saturating_sub(1))
    }

    #[inline]
    pub(super) fn insert(&mut self, entry: Entry) {
        if self.pieces.is_empty() {
            self.pieces.push(Vec::with_capacity(PIECE));
        }
        let at = self.piece_of(&entry);
        let piece = &mut self.pieces[at];
        let place = piece.partition_point(|other| *other < entry);
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
        let Ok(place) = piece.binary_search(entry) else { return false };
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
                let entry = Entry { size, created, addr, block: addr as u32 };
                if comes && !set.contains(&entry) {
                    list.insert(entry);
                    set.insert(entry);
                } else if !comes {
                    prop_assert_eq!(list.remove(&entry), set.remove(&entry));
                }
                let fit = set.iter().find(|other| size <= other.size);
                let found = list.first_fit(size);
                prop_assert_eq!(found.map(|at| list.get(at)), fit.copied());
                let next = found.and_then(|at| list.after(at)).map(|at| list.get(at));
                prop_assert_eq!(next, fit.and_then(|fit| set.range(fit..).nth(1)).copied());
                prop_assert_eq!(list.last(), set.last());
            }
            prop_assert!(list.iter().eq(set.iter()));
        }
    }
}
