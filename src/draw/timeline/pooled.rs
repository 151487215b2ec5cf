//! Blocks with private pools as envelopes: a pool is as high as its reserved bytes, with its blocks inside.

use super::bands::{BandFill, BandTexture, Bands, Blocks, LiveCursor};
use crate::analysis::PrivatePools;
use crate::model::{AllocId, Moment};
use std::ops::Range;

/// Ids of the free parts of pools count down from here. They are above all ids of allocations, and below the
/// two ids that the raster keeps for itself.
const FIRST_POOL_ID: u32 = u32::MAX - 16;

/// The private pools at the bottom, since they rarely change, and the blocks of the default pool above.
#[derive(Clone, Copy)]
pub struct Pooled<'a> {
    /// The blocks.
    pub blocks: Blocks<'a>,
    /// The pools.
    pub pools: &'a PrivatePools,
}

/// The pool of a band that is the free part of a pool; `None` for the band of an allocation.
pub fn pool_of_band(id: AllocId, pools: &PrivatePools) -> Option<usize> {
    let at = FIRST_POOL_ID.checked_sub(id.0)? as usize;
    (at < pools.pools.len()).then_some(at)
}

impl Bands for Pooled<'_> {
    type Cursor = LiveCursor;

    fn moment_in(&self, moments: Range<usize>) -> Option<Moment> {
        self.pools.total.peak_in(moments).map(|(moment, _)| moment)
    }

    fn visit(&self, cursor: &mut LiveCursor, moment: Moment, mut visit: impl FnMut(u32, i64) -> bool) {
        let mut inside: Vec<Vec<(u32, i64)>> = vec![Vec::new(); self.pools.pools.len()];
        let mut outside = Vec::new();
        self.blocks.visit(cursor, moment, |id, size| {
            match self.pools.owner(AllocId(id)) {
                None => outside.push((id, size)),
                Some(pool) => inside[pool].push((id, size)),
            }
            true
        });
        let has_envelopes = self.blocks.filter.is_none_or(|filter| !filter.hides_rest);
        for (at, (pool, blocks)) in self.pools.pools.iter().zip(&inside).enumerate() {
            let active = blocks.iter().fold(0i64, |sum, &(_, size)| sum.saturating_add(size));
            let rest = pool.reserved.at(moment).saturating_sub(active).max(0);
            let free = (has_envelopes && rest != 0).then_some((FIRST_POOL_ID - at as u32, rest));
            if !blocks.iter().copied().chain(free).all(|(id, size)| visit(id, size)) {
                return;
            }
        }
        outside.into_iter().all(|(id, size)| visit(id, size));
    }

    fn fill(&self, id: u32, moment: Moment) -> BandFill {
        match pool_of_band(AllocId(id), self.pools) {
            Some(_) => {
                BandFill { color: self.blocks.coloring.free(), texture: BandTexture::Hollow, is_faded: false }
            }
            None => self.blocks.fill(id, moment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::private_pools;
    use crate::draw::{BandColors, ColorBy, Coloring, Palette};
    use crate::model::{
        Action, Anchor, DeviceId, Event, EventTable, PoolKey, SegmentTable, Snapshot, Timeline, TimelineInput,
    };
    use std::sync::Arc;

    fn timeline() -> Timeline {
        let mut events = EventTable::default();
        let mut push = |action, addr: u64, size, pool| {
            events.push(&Event { stream: Some(0), pool: Some(pool), ..Event::new(action, addr << 20, size) });
        };
        let graph = PoolKey(0, 1);
        push(Action::Alloc, 1, 100, PoolKey::DEFAULT);
        push(Action::SegmentAlloc, 64, 2 << 20, graph);
        push(Action::Alloc, 64, 1000, graph);
        push(Action::Alloc, 2, 50, PoolKey::DEFAULT);
        push(Action::FreeCompleted, 64, 1000, graph);
        push(Action::SegmentFree, 64, 2 << 20, graph);
        let segments = SegmentTable::default();
        Timeline::build(TimelineInput { device: DeviceId(0), events, segments, anchor: Anchor::TraceOnly })
    }

    #[test]
    fn a_pool_is_as_high_as_what_it_reserves() {
        let timeline = timeline();
        let pools = private_pools(&timeline).expect("there is one");
        let stacks = Arc::new(BandColors::new(&Snapshot::default(), &Palette::DARK));
        let coloring = Coloring::new(ColorBy::Stack, &timeline, stacks, &Palette::DARK);
        let blocks = Blocks { timeline: &timeline, coloring: &coloring, filter: None };
        let pooled = Pooled { blocks, pools: &pools };
        let bands = |moment| {
            let mut bands = Vec::new();
            pooled.visit(&mut LiveCursor::default(), Moment(moment), |id, size| {
                bands.push((id, size));
                true
            });
            bands
        };
        let rest = (2 << 20) - 1000;
        assert_eq!(bands(1), [(0, 100)]);
        assert_eq!(bands(2), [(FIRST_POOL_ID, 2 << 20), (0, 100)]);
        assert_eq!(bands(4), [(1, 1000), (FIRST_POOL_ID, rest), (0, 100), (2, 50)]);
        assert_eq!(bands(6), [(0, 100), (2, 50)]);
        for moment in 0..7 {
            let height: i64 = bands(moment).iter().map(|&(_, size)| size).sum();
            assert_eq!(height, pools.total.at(Moment(moment)), "moment {moment}");
        }
        assert_eq!(pool_of_band(AllocId(FIRST_POOL_ID), &pools), Some(0));
        assert_eq!(pool_of_band(AllocId(1), &pools), None);
    }

    #[test]
    fn without_private_pools_there_is_nothing_to_draw() {
        assert!(private_pools(&crate::draw::fixture::timeline(&[])).is_none());
    }
}
