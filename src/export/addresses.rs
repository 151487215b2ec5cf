//! Addresses over time.

use super::Shot;
use crate::analysis::SegmentRows;
use crate::draw::Blocks;
use crate::draw::picture::{SegmentTimelinePicture, Sheet, segment_timeline_legend};
use crate::draw::software::Pixels;
use crate::model::Timeline;

pub(super) fn paint(shot: &Shot, timeline: &Timeline, sheet: &Sheet<'_>) -> Pixels {
    let contains = |id| shot.contains(id);
    let kept = shot.kept(&contains).map(|kept| crate::draw::Kept { is_alone: false, ..kept });
    let picture = SegmentTimelinePicture {
        rows: &SegmentRows::build(timeline),
        look: shot.rows.as_ref(),
        view: shot.view,
        blocks: Blocks { timeline, coloring: &shot.coloring, kept },
        cursor: shot.cursor(),
        selected: shot.selected,
        sites: Some(&shot.sites(timeline)),
    };
    picture.paint(sheet, &shot.page(timeline, segment_timeline_legend(timeline, &shot.view, sheet.palette)))
}
