//! Memory that both sides have and that different rules judge.
//!
//! A recording that begins later, or without stacks, lets other rules decide about the same memory. To call that a change would
//! be wrong. Memory is taken to be the same if the same line made it, in the same function of a package, with the same size; where
//! one side has no stack, if it has the same size and is for the same purpose.

use super::live::Item;
use crate::{Amount, Category, RuleId, Verdict};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Memory that both sides have, and the verdicts on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restated {
    /// The verdict on either side.
    pub verdicts: [Verdict; 2],
    /// The memory, which is as large on both sides.
    pub amount: Amount,
}

impl Restated {
    /// Whether the categories differ, not only the rule or how surely they are known.
    pub fn is_of_other_category(&self) -> bool {
        self.verdicts[0].category != self.verdicts[1].category
    }

    /// Whether categories differ, or how surely they are known, not the rule alone.
    pub fn matters(&self) -> bool {
        let [a, b] = self.verdicts;
        self.is_of_other_category() || a.basis() != b.basis()
    }
}

/// Mark the items on both sides that are the same memory under different verdicts; most bytes first.
pub(super) fn mark_restated(a: &mut [Item], b: &mut [Item], no_stack: Option<u32>) -> Vec<Restated> {
    let mut pairing =
        Pairing { open: [vec![true; a.len()], vec![true; b.len()]], sides: [a, b], sums: BTreeMap::new() };
    let place = |item: &Item| (item.line, item.inner, item.size);
    let category = |item: &Item| item.verdict.category;
    pairing.pair(|item| Some((place(item), category(item), item.verdict.rule)), false);
    pairing.pair(|item| Some((place(item), category(item))), true);
    pairing.pair(|item| Some(place(item)), true);
    for side in [0, 1] {
        // Memory without a stack on one side may have any line on the other.
        let is_without = |of: usize, item: &Item| (Some(item.line) == no_stack) == (of == side);
        let key = |of: usize, item: &Item| is_without(of, item).then(|| (item.size, category(item)));
        pairing.pair_sides(key, true);
    }
    let mut found: Vec<Restated> = pairing.sums.into_values().collect();
    found.sort_by_key(|found| Reverse(found.amount.bytes));
    found
}

/// Items that were not paired yet, and what was found about those that were.
struct Pairing<'a> {
    sides: [&'a mut [Item]; 2],
    open: [Vec<bool>; 2],
    sums: BTreeMap<[(Category, RuleId); 2], Restated>,
}

impl Pairing<'_> {
    /// Pair open items with the same key, in allocation order.
    fn pair<K: Ord>(&mut self, key: impl Fn(&Item) -> Option<K>, is_restated: bool) {
        self.pair_sides(|_, item| key(item), is_restated);
    }

    fn pair_sides<K: Ord>(&mut self, key: impl Fn(usize, &Item) -> Option<K>, is_restated: bool) {
        let [of_a, of_b] = [0, 1].map(|side| {
            let mut found: BTreeMap<K, Vec<usize>> = BTreeMap::new();
            for (at, item) in self.sides[side].iter().enumerate().filter(|(at, _)| self.open[side][*at]) {
                if let Some(key) = key(side, item) {
                    found.entry(key).or_default().push(at);
                }
            }
            found
        });
        for (key, of_a) in of_a {
            for (i, &j) in of_a.into_iter().zip(of_b.get(&key).into_iter().flatten()) {
                (self.open[0][i], self.open[1][j]) = (false, false);
                if is_restated {
                    self.restate(i, j);
                }
            }
        }
    }

    fn restate(&mut self, i: usize, j: usize) {
        let [of_a, of_b] = &mut self.sides;
        let (a, b) = (&mut of_a[i], &mut of_b[j]);
        (a.is_restated, b.is_restated) = (true, true);
        let verdicts = [a.verdict, b.verdict];
        let key = verdicts.map(|verdict| (verdict.category, verdict.rule));
        let sum = self.sums.entry(key).or_insert(Restated { verdicts, amount: Amount::default() });
        sum.amount.add(Amount { bytes: i128::from(a.size), count: 1 });
    }
}
