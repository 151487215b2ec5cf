//! The stacked timeline.

use super::Shot;
use crate::analysis::private_pools;
use crate::draw::picture::{Entry, Mark, Sheet, TimelinePicture, timeline_legend};
use crate::draw::software::Pixels;
use crate::draw::{Bands, Blocks, ColorBy, Pooled, SegmentStack};
use crate::model::Timeline;

/// Live allocations; private pools as envelopes around theirs.
pub(super) fn blocks(shot: &Shot, timeline: &Timeline, sheet: &Sheet<'_>) -> Pixels {
    let contains = |id| shot.contains(id);
    let blocks = Blocks { timeline, coloring: &shot.coloring, kept: shot.kept(&contains) };
    let by_stack = shot.coloring.by() == ColorBy::Stack;
    let mut legend = timeline_legend(timeline, &shot.view, sheet.palette, by_stack);
    match private_pools(timeline) {
        Some(pools) => {
            legend.push(Entry::new(Mark::Area, shot.coloring.free(), "not in use in a private pool"));
            paint(shot, timeline, sheet, &Pooled { blocks, pools: &pools }, legend)
        }
        None => paint(shot, timeline, sheet, &blocks, legend),
    }
}

/// Reserved memory.
pub(super) fn reserved(shot: &Shot, timeline: &Timeline, sheet: &Sheet<'_>) -> Pixels {
    let legend = timeline_legend(timeline, &shot.view, sheet.palette, true);
    paint(shot, timeline, sheet, &SegmentStack::new(timeline, &shot.coloring), legend)
}

fn paint(
    shot: &Shot,
    timeline: &Timeline,
    sheet: &Sheet<'_>,
    bands: &impl Bands,
    legend: Vec<Entry>,
) -> Pixels {
    let picture = TimelinePicture {
        snapshot: &shot.snapshot,
        timeline,
        view: shot.view,
        bands,
        lanes: &shot.lanes(timeline),
        capacity: shot.capacity(timeline),
        cursor: shot.cursor(),
        selected: shot.selected,
        sites: Some(&shot.sites(timeline)),
    };
    picture.paint(sheet, &shot.page(timeline, legend))
}
