//! The totals as lines.

use super::Shot;
use crate::draw::picture::{CurvesPicture, Sheet, curves_legend};
use crate::draw::software::Pixels;
use crate::model::Timeline;

pub(super) fn paint(shot: &Shot, timeline: &Timeline, sheet: &Sheet<'_>) -> Pixels {
    let picture =
        CurvesPicture { timeline, view: shot.view, capacity: shot.capacity(timeline), cursor: shot.cursor() };
    picture.paint(sheet, &shot.page(timeline, curves_legend(timeline, &shot.view, sheet.palette)))
}
