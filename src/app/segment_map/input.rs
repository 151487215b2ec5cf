//! The mouse on the segment map.

use crate::analysis::SegmentState;
use crate::analysis::segment_state::Content;
use crate::app::device::Selection;
use crate::draw::segment_map::{MapLayout, MapZoom, SegmentMapHit};
use crate::model::Timeline;
use eframe::egui::{self, Vec2, pos2};

/// How much one point of wheel movement zooms.
const ZOOM_PER_POINT: f32 = 0.006;

/// Share of the width that a row takes after zooming to it.
const ROW_SHARE: f64 = 0.9;

/// Drag pans; the wheel zooms at the pointer, with Shift it scrolls.
pub(in crate::app) fn navigate(
    ui: &egui::Ui,
    response: &egui::Response,
    zoom: MapZoom,
    layout: &MapLayout,
) -> MapZoom {
    let size = response.rect.size();
    let mut zoom = zoom;
    if response.dragged() {
        zoom = zoom.pan(response.drag_delta(), layout, size);
    }
    let Some(pointer) = response.hover_pos() else { return zoom };
    let (wheel, pinch, is_shift) =
        ui.input(|input| (input.smooth_scroll_delta, input.zoom_delta(), input.modifiers.shift));
    if is_shift {
        // With Shift held, a wheel's movement may arrive as a horizontal one.
        return zoom.pan(egui::vec2(0.0, wheel.x + wheel.y), layout, size);
    }
    if wheel != Vec2::ZERO || pinch != 1.0 {
        let at = pointer - response.rect.min;
        let factor = f64::from((wheel.y * ZOOM_PER_POINT).exp() * pinch);
        zoom = zoom.zoom_at(pos2(at.x, at.y), factor, layout, size);
        zoom = zoom.pan(egui::vec2(wheel.x, 0.0), layout, size);
    }
    zoom
}

/// What a click selects: a block's allocation, else the segment.
pub(in crate::app) fn selection_of(state: &SegmentState, hit: SegmentMapHit) -> Selection {
    let part = &state.parts[hit.part];
    match part.content {
        Content::Allocated(Some(id)) | Content::Awaiting(Some(id)) => Selection::Allocation(id),
        _ => Selection::Segment { addr: state.rows[hit.row].addr },
    }
}

/// Zoom so that a row fills the width, or back out if it does already.
pub(in crate::app) fn zoom_to_row(
    state: &SegmentState,
    row: usize,
    zoom: MapZoom,
    layout: &MapLayout,
    size: Vec2,
) -> MapZoom {
    let Some(found) = state.rows.get(row) else { return zoom };
    let bytes = found.past_end.saturating_sub(found.addr) as f64;
    let wanted = bytes / (f64::from(size.x) * ROW_SHARE);
    let factor = (layout.sheet.bytes_per_px / wanted).max(1.0);
    let is_there = (zoom.factor - factor).abs() <= factor * 0.02;
    let new = MapZoom { factor: if is_there { 1.0 } else { factor }, ..zoom };
    let middle = found.addr.saturating_add((found.past_end - found.addr) / 2);
    // From far away, so that the middle of the row comes to the middle.
    MapZoom { x_px: f64::MAX / 4.0, ..new }.within(layout, size).showing(row, middle, layout, size)
}

/// The row and the address of what is selected, if it is there at this moment.
pub(in crate::app) fn place_of(
    timeline: &Timeline,
    selection: Selection,
    state: &SegmentState,
) -> Option<(usize, u64)> {
    match selection {
        Selection::Allocation(id) => {
            let addr = timeline.addr(id);
            state.find(addr, id).map(|(row, _)| (row, addr))
        }
        Selection::Segment { addr } => state.row_at(addr).map(|row| (row, addr)),
        Selection::None | Selection::Stack(_) => None,
    }
}
