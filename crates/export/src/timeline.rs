//! The timeline: allocations, or reserved memory, stacked over time.

use super::spec::PictureSpec;
use oomscope_analysis::private_pools;
use oomscope_draw::picture::{
    BandsPlace, LegendEntry, LegendMark, PictureSheet, TimelinePicture, timeline_legend,
};
use oomscope_draw::software::Pixels;
use oomscope_draw::{Bands, Blocks, ColorBy, POOL_LEGEND, Pooled, SegmentStack};
use oomscope_model::Timeline;

/// Live allocations; private pools as envelopes around theirs. Also returns where they are.
pub(super) fn allocations(
    spec: &PictureSpec,
    timeline: &Timeline,
    sheet: &PictureSheet<'_>,
) -> (Pixels, Option<BandsPlace>) {
    let contains = |id| spec.stresses(id);
    let blocks = Blocks { timeline, coloring: &spec.coloring, filter: spec.block_filter(&contains) };
    let by_stack = spec.coloring.by() == ColorBy::Stack;
    let mut legend = timeline_legend(timeline, &spec.view, sheet.palette, by_stack);
    match private_pools(timeline) {
        Some(pools) => {
            legend.push(LegendEntry::new(LegendMark::Hollow, spec.coloring.free(), POOL_LEGEND));
            paint(spec, timeline, sheet, &Pooled { blocks, pools: &pools }, Some(&blocks), legend)
        }
        None => paint(spec, timeline, sheet, &blocks, Some(&blocks), legend),
    }
}

/// Reserved memory.
pub(super) fn reserved(spec: &PictureSpec, timeline: &Timeline, sheet: &PictureSheet<'_>) -> Pixels {
    // Reserved memory has the colours of stacks where it cannot have those of the property.
    let by = spec.coloring.by();
    let by_stack = by == ColorBy::Stack || by.needs_attribution();
    let legend = timeline_legend(timeline, &spec.view, sheet.palette, by_stack);
    paint(spec, timeline, sheet, &SegmentStack::new(timeline, &spec.coloring), None, legend).0
}

fn paint(
    spec: &PictureSpec,
    timeline: &Timeline,
    sheet: &PictureSheet<'_>,
    bands: &impl Bands,
    named: Option<&Blocks<'_>>,
    legend: Vec<LegendEntry>,
) -> (Pixels, Option<BandsPlace>) {
    let sites = spec.sites(timeline);
    let picture = TimelinePicture {
        recording: &spec.recording,
        view: spec.view,
        bands,
        named,
        lanes: &spec.lanes(timeline),
        capacity: spec.capacity(timeline),
        cursor: spec.cursor(),
        selected: spec.selected,
        future: &spec.future,
        mark: spec.mark(),
        sites: sites.as_ref(),
    };
    picture.paint_placed(sheet, &spec.page(timeline, legend))
}
