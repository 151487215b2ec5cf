//! The mouse on the segment map.

use crate::device::Selection;
use eframe::egui::{self, Vec2, pos2};
use oomscope_analysis::SegmentState;
use oomscope_analysis::segment_state::Content;
use oomscope_draw::segment_map::{MapLayout, MapZoom, SegmentMapHit};
use oomscope_model::Timeline;

/// Logarithm of the zoom for each point of wheel movement: a notch of 40 points zooms by about a quarter.
const ZOOM_PER_POINT: f32 = 0.006;

/// Share of the width that a row takes after zooming to it: its ends are in sight.
const ROW_SHARE: f64 = 0.9;

/// Relative difference up to which two zooms are the same, so that a second double click zooms out.
const SAME_ZOOM: f64 = 0.02;

/// Dragging pans; the wheel zooms at the pointer, and with Shift it scrolls.
pub(crate) fn navigate(
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

/// The selection that a click makes: a block's allocation, or else the segment.
pub(crate) fn selection_of(state: &SegmentState, hit: SegmentMapHit) -> Selection {
    let part = &state.parts[hit.part];
    match part.content {
        Content::Allocated(Some(id)) | Content::Awaiting(Some(id)) => Selection::Allocation(id),
        _ => Selection::Segment { addr: state.rows[hit.row].addr },
    }
}

/// Zoom in until a row fills the width, or out again if it does already.
pub(crate) fn zoom_to_row(
    state: &SegmentState,
    row: usize,
    zoom: MapZoom,
    layout: &MapLayout,
    size: Vec2,
) -> MapZoom {
    let Some(found) = state.rows.get(row) else { return zoom };
    debug_assert!(found.addr <= found.past_end);
    let bytes = found.past_end.saturating_sub(found.addr) as f64;
    let wanted = bytes / (f64::from(size.x) * ROW_SHARE);
    let factor = (layout.sheet.bytes_per_px / wanted).max(1.0);
    let is_there = (zoom.factor - factor).abs() <= factor * SAME_ZOOM;
    let new = MapZoom { factor: if is_there { 1.0 } else { factor }, ..zoom };
    let middle = found.addr.saturating_add((found.past_end - found.addr) / 2);
    // `showing` moves no further than it must. From far away, it puts the row's middle into the middle.
    MapZoom { x_px: f64::MAX / 4.0, ..new }.within(layout, size).showing(row, middle, layout, size)
}

/// The row and the address of a selection, if it exists at this moment.
pub(crate) fn place_of(
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
