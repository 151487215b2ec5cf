//! The segment timeline: addresses over time, a row per segment.

use super::spec::PictureSpec;
use oomscope_analysis::{RowSites, SegmentRows};
use oomscope_draw::Blocks;
use oomscope_draw::picture::{PictureSheet, SegmentTimelinePicture, segment_timeline_legend};
use oomscope_draw::software::Pixels;
use oomscope_model::Timeline;

pub(super) fn paint(spec: &PictureSpec, timeline: &Timeline, sheet: &PictureSheet<'_>) -> Pixels {
    let contains = |id| spec.stresses(id);
    // Leaving blocks out would show addresses as free that were not, so the rest is faded in any case.
    let filter =
        spec.block_filter(&contains).map(|filter| oomscope_draw::BlockFilter { hides_rest: false, ..filter });
    let rows = SegmentRows::build(timeline);
    let sites = spec.sites(timeline);
    let picture = SegmentTimelinePicture {
        rows: &rows,
        row_sites: &RowSites::new(&spec.recording, &rows),
        look: spec.rows.as_ref(),
        view: spec.view,
        blocks: Blocks { timeline, coloring: &spec.coloring, filter },
        cursor: spec.cursor(),
        selected: spec.selected,
        sites: sites.as_ref(),
    };
    picture.paint(sheet, &spec.page(timeline, segment_timeline_legend(timeline, &spec.view, sheet.palette)))
}
