//! The mouse on the segment timeline.

use super::panel::Places;
use crate::analysis::SegmentRows;
use crate::app::device::DeviceState;
use crate::app::navigation::Selection;
use crate::app::timeline;
use crate::draw::{Pixel, SegmentTimelineHit};
use crate::model::Moment;
use eframe::egui;

/// Zoom and pan in time, and scroll through rows.
pub(in crate::app) fn navigate(
    ui: &egui::Ui,
    response: &egui::Response,
    device: &mut DeviceState,
    places: Places,
) {
    let size = response.rect.size().max(egui::vec2(1.0, 1.0));
    if response.dragged() {
        let moved = response.drag_delta();
        device.view = device.view.pan(f64::from(-moved.x / size.x), 0.0, &device.full);
        device.panels.segment_timeline.scroll -= moved.y;
    }
    let (pointer, wheel, is_shift) =
        ui.input(|input| (input.pointer.hover_pos(), input.smooth_scroll_delta, input.modifiers.shift));
    let Some(pointer) = pointer else { return };
    let is_on_labels = places.labels.contains(pointer) && ui.rect_contains_pointer(places.labels);
    if is_on_labels || (response.hovered() && is_shift) {
        // With Shift held, a wheel's movement may arrive as a horizontal one.
        let by = if is_shift { wheel.x + wheel.y } else { wheel.y };
        device.panels.segment_timeline.scroll -= by;
    } else if response.hovered() {
        let at = f64::from((pointer.x - response.rect.left()) / size.x);
        timeline::input::zoom_in_time(ui, device, at, size.x);
    }
}

/// Zoom to the lifetime of what the first click selected, or else to everything.
pub(in crate::app) fn double_click(device: &mut DeviceState) {
    match device.selected() {
        Some(id) => device.zoom_to_lifetime(id),
        None => device.fit(),
    }
}

/// Put the cursor where the pointer is, select what is there, and expand its row.
pub(in crate::app) fn click(device: &mut DeviceState, rows: &SegmentRows, under: SegmentTimelineHit) {
    let timeline = device.timeline();
    let mut moment = under.moment;
    let selection = match under.pixel {
        Pixel::Block(id) => {
            // Of the moments of a column, one at which the allocation is there.
            let last = timeline.lifetimes.end(id).map_or(u32::MAX, |end| end.0.saturating_sub(1));
            let start = timeline.lifetimes.start(id).0;
            moment = moment.map(|moment| Moment(moment.0.min(last).max(start)));
            Selection::Allocation(id)
        }
        Pixel::Empty | Pixel::Merged => {
            let at = moment.unwrap_or(device.cursor);
            let mut ranges = rows.ranges(under.row, timeline);
            let range = ranges.find(|range| range.is_live_at(at) && range.contains(under.addr));
            range.map_or(Selection::None, |range| Selection::Segment { addr: range.addr })
        }
    };
    if let Some(moment) = moment {
        device.go_to(moment);
    }
    device.select(selection);
    if selection != Selection::None {
        device.panels.segment_timeline.expand(selection, under.row);
    }
}

/// Expand a row and select its segment, or make the row thin again.
pub(in crate::app) fn click_label(device: &mut DeviceState, addr: u64, row: u32) {
    let state = &mut device.panels.segment_timeline;
    if !state.is_all_expanded && state.expanded.remove(&row) {
        return;
    }
    let selection = Selection::Segment { addr };
    state.expand(selection, row);
    device.select(selection);
}

/// The row of a selection.
pub(in crate::app) fn row_of(device: &DeviceState, rows: &SegmentRows, selection: Selection) -> Option<u32> {
    match selection {
        Selection::Allocation(id) => rows.place(id, device.timeline()).map(|place| place.row),
        Selection::Segment { addr } => rows.row_at(addr),
        Selection::None | Selection::Stack(_) => None,
    }
}
