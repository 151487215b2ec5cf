//! Memory of both sides in figures, and how it changed.

use super::live::Item;
use crate::{Amount, Basis};

/// Some live memory of one side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Portion {
    /// All of it.
    pub amount: Amount,
    /// The part that the other side has as well, but that another rule judges there. It counts as no change.
    pub restated: Amount,
    /// Bytes that were live already when the iteration, or else the recording, began.
    pub older_bytes: i128,
    /// Bytes by how surely their category is known, in the order of [`Basis::ALL`].
    pub by_basis: [i128; Basis::ALL.len()],
}

impl Portion {
    pub(super) fn add_item(&mut self, item: &Item) {
        let one = Amount { bytes: i128::from(item.size), count: 1 };
        self.amount.add(one);
        if item.is_restated {
            self.restated.add(one);
        }
        if item.is_older {
            self.older_bytes = self.older_bytes.saturating_add(one.bytes);
        }
        let of_basis = &mut self.by_basis[item.verdict.basis() as usize];
        *of_basis = of_basis.saturating_add(one.bytes);
    }

    /// Add other memory of the same side.
    pub fn add(&mut self, other: &Self) {
        self.amount.add(other.amount);
        self.restated.add(other.restated);
        self.older_bytes = self.older_bytes.saturating_add(other.older_bytes);
        for (sum, bytes) in self.by_basis.iter_mut().zip(other.by_basis) {
            *sum = sum.saturating_add(bytes);
        }
    }

    /// Bytes whose category is only inferred.
    pub fn inferred_bytes(&self) -> i128 {
        self.by_basis[Basis::Inferred as usize]
    }

    /// Bytes that count for the change: those that the same rule judges on both sides, or that only one side has.
    pub fn comparable_bytes(&self) -> i128 {
        self.amount.bytes.saturating_sub(self.restated.bytes)
    }
}

/// How memory changed from one side to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// Only the second side has it.
    New,
    /// Only the first side has it.
    Gone,
    /// The second side has more of it.
    Grown,
    /// The second side has less of it.
    Shrunk,
    /// Both sides have the same bytes of it.
    Same,
}

/// The memory with one key on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BothSides<K> {
    /// What the memory has in common.
    pub key: K,
    /// The memory of the first side, and of the second.
    pub sides: [Portion; 2],
}

impl<K> BothSides<K> {
    /// Bytes of the second side less those of the first, without what is judged differently.
    pub fn change_bytes(&self) -> i128 {
        let [a, b] = self.sides.map(|side| side.comparable_bytes());
        b.saturating_sub(a)
    }

    /// Bytes of the second side that are judged differently on the first, less those of the first: together with the
    /// change they are the whole difference.
    pub fn restated_bytes(&self) -> i128 {
        let [a, b] = self.sides.map(|side| side.restated.bytes);
        b.saturating_sub(a)
    }

    /// Bytes of the second side less those of the first.
    pub fn difference_bytes(&self) -> i128 {
        let [a, b] = self.sides.map(|side| side.amount.bytes);
        b.saturating_sub(a)
    }

    /// Bytes of both sides that differ by the change alone: without what the other side has under another key.
    pub fn comparable_bytes(&self) -> [i128; 2] {
        let both = self.sides[0].restated.bytes.min(self.sides[1].restated.bytes);
        self.sides.map(|side| side.comparable_bytes().saturating_add(both))
    }

    /// How the memory changed, without what is judged differently.
    pub fn change(&self) -> Change {
        let [a, b] = self.sides.map(|side| side.amount.bytes);
        match self.change_bytes() {
            0 => Change::Same,
            _ if a == 0 => Change::New,
            _ if b == 0 => Change::Gone,
            1.. => Change::Grown,
            _ => Change::Shrunk,
        }
    }
}

impl Change {
    /// Its name in output.
    pub fn key(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Gone => "gone",
            Self::Grown => "grown",
            Self::Shrunk => "shrunk",
            Self::Same => "same",
        }
    }
}

/// Add up rows by another key, largest change first, then the larger one, then by key.
pub(super) fn regrouped<K, L: Ord + Copy>(
    rows: &[BothSides<K>],
    key_of: impl Fn(&K) -> Option<L>,
) -> Vec<BothSides<L>> {
    let mut sums: std::collections::BTreeMap<L, [Portion; 2]> = std::collections::BTreeMap::new();
    for row in rows {
        let Some(key) = key_of(&row.key) else { continue };
        let sum = sums.entry(key).or_default();
        sum.iter_mut().zip(&row.sides).for_each(|(sum, side)| sum.add(side));
    }
    let mut rows: Vec<BothSides<L>> = sums.into_iter().map(|(key, sides)| BothSides { key, sides }).collect();
    let larger = |row: &BothSides<L>| row.sides[0].amount.bytes.max(row.sides[1].amount.bytes);
    rows.sort_by_key(|row| (std::cmp::Reverse((row.change_bytes().unsigned_abs(), larger(row))), row.key));
    rows
}
