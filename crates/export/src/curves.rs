//! The curves: totals over time as lines.

use super::spec::PictureSpec;
use oomscope_draw::picture::{CurvesPicture, PictureSheet, curves_legend};
use oomscope_draw::software::Pixels;
use oomscope_model::Timeline;

pub(super) fn paint(spec: &PictureSpec, timeline: &Timeline, sheet: &PictureSheet<'_>) -> Pixels {
    let picture = CurvesPicture {
        timeline,
        view: spec.view,
        future: &spec.future,
        capacity: spec.capacity(timeline),
        cursor: spec.cursor(),
    };
    picture.paint(sheet, &spec.page(timeline, curves_legend(timeline, &spec.view, sheet.palette)))
}
