//! Garbage collection: segments that no search took for a long time go back to the driver.

use super::{Allocator, class_of_list};
use crate::requests::PoolIx;

impl Allocator<'_> {
    /// Give back old segments of the large default pool while more than the threshold is reserved.
    ///
    /// The age of a block is the number of searches in its size class since it became free. Blocks of at least the mean
    /// age go; then those of at least the mean age of the rest, until enough is given back.
    pub(super) fn collect_garbage(&mut self) {
        let Some(threshold) = self.rules.garbage_bytes else { return };
        let reserved = self.counters.reserved_bytes.current;
        if reserved <= threshold {
            return;
        }
        let lists = self.pool_streams.large_lists(PoolIx::DEFAULT);
        let Some(&any) = lists.first() else { return };
        let searches = self.classes[class_of_list(self.pool_streams, any)].searches;
        let entries = lists.iter().flat_map(|&list| self.free_lists[list as usize].iter());
        let mut left: Vec<(u32, u64)> = entries
            .filter(|entry| {
                let segment = self.blocks[entry.block()].segment;
                !self.blocks.is_split(entry.block()) && !self.segments[segment as usize].is_expandable()
            })
            .map(|entry| (entry.block(), u64::from(searches - self.blocks[entry.block()].freed_at)))
            .collect();
        let target = reserved - threshold;
        let mut reclaimed = 0;
        while reclaimed < target && !left.is_empty() {
            let mean = left.iter().map(|&(_, age)| age).sum::<u64>() as f64 / left.len() as f64;
            let (old, young): (Vec<_>, Vec<_>) = left.iter().partition(|&&(_, age)| mean <= age as f64);
            for (id, _) in old {
                reclaimed += self.blocks[id].size;
                self.release(id);
            }
            left = young;
        }
    }
}
