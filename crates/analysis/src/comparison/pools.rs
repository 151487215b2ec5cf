//! Pools and streams of both sides, matched.

use super::live::Item;
use super::side::Side;
use crate::segments::pools::PoolPlaces;
use foldhash::{HashMap, HashSet};
use oomscope_model::PoolKey;
use std::collections::{BTreeMap, BTreeSet};

/// A pool and a stream; `None` where it was not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PoolStream {
    /// The pool.
    pub pool: Option<PoolKey>,
    /// The stream.
    pub stream: Option<i64>,
}

/// A pool and stream as both sides have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolPair {
    /// Its keys on either side; `None` where that side has nothing in it.
    pub keys: [Option<PoolStream>; 2],
    /// Whether the keys differ. Numbers of streams and private pools mean nothing in another process, so those that only one
    /// side has are paired in the order in which they were used.
    pub is_by_order: bool,
    /// Reserved bytes on either side.
    pub reserved_bytes: [i128; 2],
}

/// Pools and streams of one side, in the order of first use among what is live, with their reserved bytes.
struct OfSide {
    order: Vec<PoolStream>,
    reserved: BTreeMap<PoolStream, i128>,
    of_item: Vec<PoolStream>,
}

impl OfSide {
    fn new(side: &Side<'_>, items: &[Item]) -> Self {
        let places = PoolPlaces::new(side.recording);
        let of_item = items.iter().map(|item| {
            let allocation = side.recording.allocation(item.id);
            PoolStream { pool: places.pool_of(&allocation), stream: allocation.stream }
        });
        let of_item: Vec<PoolStream> = of_item.collect();
        let mut reserved = BTreeMap::new();
        let mut of_range = Vec::new();
        for range in side.recording.ranges.live_at(side.moment) {
            let key = PoolStream { pool: range.pool, stream: range.stream };
            let sum: &mut i128 = reserved.entry(key).or_default();
            *sum = sum.saturating_add(i128::from(range.size));
            of_range.push(key);
        }
        let mut seen = HashSet::default();
        let mut order: Vec<PoolStream> = Vec::new();
        for key in of_item.iter().chain(&of_range) {
            if seen.insert(*key) {
                order.push(*key);
            }
        }
        Self { order, reserved, of_item }
    }
}

/// Match the pools and streams of both sides, and note those of the items.
pub(super) fn match_pools(sides: [&Side<'_>; 2], items: [&mut [Item]; 2]) -> Vec<PoolPair> {
    let [items_a, items_b] = items;
    let of = [OfSide::new(sides[0], items_a), OfSide::new(sides[1], items_b)];
    let pairs = pairs([&of[0].order, &of[1].order]);
    for (side, items) in [items_a, items_b].into_iter().enumerate() {
        let keys = pairs.iter().map(|pair| pair[side]).zip(0u32..);
        let index: HashMap<PoolStream, u32> = keys.filter_map(|(key, at)| Some((key?, at))).collect();
        for (item, key) in items.iter_mut().zip(&of[side].of_item) {
            item.pool = index.get(key).copied().unwrap_or_default();
        }
    }
    let reserved = |side: usize, key: Option<PoolStream>| {
        key.and_then(|key| of[side].reserved.get(&key)).copied().unwrap_or_default()
    };
    let pair = |keys: [Option<PoolStream>; 2]| PoolPair {
        keys,
        is_by_order: keys[0].is_some() && keys[1].is_some() && keys[0] != keys[1],
        reserved_bytes: [reserved(0, keys[0]), reserved(1, keys[1])],
    };
    pairs.into_iter().map(pair).collect()
}

/// Pairs of keys: equal ones, then those that only one side has, in order.
fn pairs([a, b]: [&[PoolStream]; 2]) -> Vec<[Option<PoolStream>; 2]> {
    let mut found: Vec<[Option<PoolStream>; 2]> = Vec::new();
    let rest = |of: &[PoolStream], other: &[PoolStream]| -> BTreeMap<_, Vec<PoolStream>> {
        let known: BTreeSet<&PoolStream> = other.iter().collect();
        let mut rest: BTreeMap<_, Vec<PoolStream>> = BTreeMap::new();
        for key in of.iter().filter(|key| !known.contains(key)) {
            rest.entry(kind(*key)).or_default().push(*key);
        }
        rest
    };
    let (rest_a, mut rest_b) = (rest(a, b), rest(b, a));
    let known: BTreeSet<&PoolStream> = b.iter().collect();
    found.extend(a.iter().filter(|key| known.contains(key)).map(|&key| [Some(key), Some(key)]));
    for (kind, of_a) in rest_a {
        let mut of_b = rest_b.remove(&kind).unwrap_or_default().into_iter();
        found.extend(of_a.into_iter().map(|key| [Some(key), of_b.next()]));
        found.extend(of_b.map(|key| [None, Some(key)]));
    }
    found.extend(rest_b.into_values().flatten().map(|key| [None, Some(key)]));
    found
}

/// What keys must have in common to be paired by order: private pools or not, a stream of its own or not, recorded or not.
fn kind(key: PoolStream) -> (Option<bool>, Option<bool>) {
    (key.pool.map(PoolKey::is_private), key.stream.map(|stream| stream != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(pool: i64, stream: i64) -> PoolStream {
        PoolStream { pool: Some(PoolKey(0, pool)), stream: Some(stream) }
    }

    #[test]
    fn streams_of_another_process_are_paired_in_their_order() {
        let found = pairs([&[key(0, 0), key(0, 77), key(0, 88)], &[key(0, 0), key(0, 11), key(4, 0)]]);
        assert_eq!(
            found,
            [
                [Some(key(0, 0)), Some(key(0, 0))],
                [Some(key(0, 77)), Some(key(0, 11))],
                [Some(key(0, 88)), None],
                [None, Some(key(4, 0))]
            ]
        );
    }
}
