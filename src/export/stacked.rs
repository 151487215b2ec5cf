//! The stacked timeline.

use super::Shot;
use crate::analysis::{lanes, private_pools};
use crate::draw::picture::{Entry, Mark, Sheet, SiteList, TimelinePicture, timeline_legend};
use crate::draw::software::Pixels;
use crate::draw::{Bands, Blocks, ColorBy, Pooled};
use crate::model::Timeline;
use crate::report;

pub(super) fn paint(shot: &Shot, timeline: &Timeline, sheet: &Sheet<'_>) -> Pixels {
    let blocks = Blocks { timeline, coloring: &shot.coloring, kept: None };
    match private_pools(timeline) {
        Some(pools) => {
            let free = Entry::new(Mark::Area, shot.coloring.free(), "not in use in a private pool");
            bands(shot, timeline, sheet, &Pooled { blocks, pools: &pools }, Some(free))
        }
        None => bands(shot, timeline, sheet, &blocks, None),
    }
}

fn bands(
    shot: &Shot,
    timeline: &Timeline,
    sheet: &Sheet<'_>,
    bands: &impl Bands,
    free: Option<Entry>,
) -> Pixels {
    let (snapshot, coloring) = (&*shot.snapshot, &*shot.coloring);
    let by_stack = coloring.by() == ColorBy::Stack;
    let mut legend = timeline_legend(timeline, &shot.view, sheet.palette, by_stack);
    legend.extend(free);
    let keys = coloring.keys(snapshot, timeline).into_iter();
    legend.extend(keys.map(|key| Entry::new(Mark::Area, key.color, key.label)));
    let heading = report::moment_name(timeline, shot.moment);
    let sites = SiteList::new(snapshot, timeline, shot.moment, heading, by_stack.then_some(coloring));
    let picture = TimelinePicture {
        snapshot,
        timeline,
        view: shot.view,
        bands,
        lanes: &lanes(snapshot, timeline),
        capacity: shot.capacity(timeline),
        cursor: shot.cursor(),
        selected: shot.selected,
        sites: Some(&sites),
    };
    picture.paint(sheet, &shot.page(timeline, legend))
}
