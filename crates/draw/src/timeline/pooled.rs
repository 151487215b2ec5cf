//! Blocks with private pools as envelopes: a pool is as high as its reserved bytes, with its blocks inside.

use super::bands::{BANDS_END, Band, BandFill, BandTexture, Bands, Blocks};
use crate::{ColorClass, Rgb};
use oomscope_analysis::PrivatePools;
use oomscope_model::{AllocId, Bytes, Moment};
use std::ops::Range;

/// Ids of the free parts of pools count down from here, above all ids of allocations.
const FIRST_POOL_ID: u32 = BANDS_END - 1;

/// The meaning of the free parts, for legends. With them, bands reach above the line of active bytes.
pub const POOL_LEGEND: &str = "free in private pools: reserved, not active";

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
    fn moment_in(&self, moments: Range<usize>) -> Option<Moment> {
        self.pools.total.peak_in(moments).map(|(moment, _)| moment)
    }

    fn total(&self, moment: Moment) -> Bytes {
        self.pools.total.at(moment)
    }

    fn least_in(&self, moments: Range<usize>) -> Bytes {
        self.pools.total.min_in(moments).unwrap_or_default()
    }

    fn begun(&self, after: Option<Moment>, moment: Moment, mut add: impl FnMut(Band)) {
        // The default pool is the last group.
        let default = self.pools.pools.len();
        let group = |id| self.pools.owner(AllocId(id)).unwrap_or(default);
        self.blocks.begun(after, moment, |band| add(Band { group: group(band.id), ..band }));
    }

    fn groups(&self) -> usize {
        self.pools.pools.len() + 1
    }

    fn above(&self, group: usize, moment: Moment, bytes: Bytes) -> Option<(u32, Bytes)> {
        let has_envelopes = self.blocks.filter.is_none_or(|filter| !filter.hides_rest);
        let pool = self.pools.pools.get(group).filter(|_| has_envelopes)?;
        let free = pool.reserved.at(moment) - bytes;
        (0 < free).then_some((FIRST_POOL_ID - group as u32, free))
    }

    fn fill(&self, id: u32, moment: Moment) -> BandFill {
        match pool_of_band(AllocId(id), self.pools) {
            Some(_) => {
                BandFill { color: self.blocks.coloring.free(), texture: BandTexture::Hollow, is_faded: false }
            }
            None => self.blocks.fill(id, moment),
        }
    }

    fn classes(&self) -> usize {
        self.blocks.classes()
    }

    fn class_color(&self, class: ColorClass) -> Rgb {
        self.blocks.class_color(class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BandColors, ColorBy, Coloring, Palette};
    use oomscope_analysis::private_pools;
    use oomscope_model::{
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
            let mut live = Vec::new();
            pooled.begun(None, Moment(moment), |band| live.push(band));
            let mut bands = Vec::new();
            for group in 0..pooled.groups() {
                let inside = live.iter().filter(|band| band.group == group).map(|band| (band.id, band.bytes));
                let inside: Vec<(u32, Bytes)> = inside.collect();
                let bytes = inside.iter().map(|&(_, bytes)| bytes).sum();
                bands.extend(inside);
                bands.extend(pooled.above(group, Moment(moment), bytes));
            }
            bands.into_iter().map(|(id, Bytes(bytes))| (id, bytes)).collect::<Vec<_>>()
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
        assert!(private_pools(&oomscope_fixtures::timelines::timeline(&[])).is_none());
    }
}
