//! The mouse on the segment timeline.

use super::state::{Places, State};
use crate::device::{Selection, Standpoint};
use crate::timeline;
use eframe::egui;
use oomscope_analysis::SegmentRows;
use oomscope_draw::{Pixel, SegmentTimelineHit};
use oomscope_model::{Moment, Timeline};

/// Zoom and pan in time, and scroll through rows.
pub(crate) fn navigate(
    ui: &egui::Ui,
    response: &egui::Response,
    at: &mut Standpoint,
    state: &mut State,
    places: Places,
) {
    let size = response.rect.size().max(egui::vec2(1.0, 1.0));
    if response.dragged() {
        let moved = response.drag_delta();
        at.view = at.view.pan(f64::from(-moved.x / size.x), 0.0, &at.full);
        state.scroll -= moved.y;
    }
    let (pointer, wheel, is_shift) =
        ui.input(|input| (input.pointer.hover_pos(), input.smooth_scroll_delta, input.modifiers.shift));
    let Some(pointer) = pointer else { return };
    let is_on_labels = places.labels.contains(pointer) && ui.rect_contains_pointer(places.labels);
    if is_on_labels || (response.hovered() && is_shift) {
        // With Shift held, a wheel's movement may arrive as a horizontal one.
        let by = if is_shift { wheel.x + wheel.y } else { wheel.y };
        state.scroll -= by;
    } else if response.hovered() {
        let x = f64::from((pointer.x - response.rect.left()) / size.x);
        timeline::input::zoom_in_time(ui, at, x, size.x);
    }
}

/// Zoom to the lifetime of the allocation that the first click selected, or else to everything.
pub(super) fn double_click(at: &mut Standpoint) {
    match at.selected_allocation() {
        Some(id) => at.zoom_to_lifetime(id),
        None => at.fit(),
    }
}

/// Put the cursor where the pointer is, select the block or segment there, and expand its row.
pub(super) fn click(
    timeline: &Timeline,
    at: &mut Standpoint,
    state: &mut State,
    rows: &SegmentRows,
    under: SegmentTimelineHit,
) {
    let mut moment = under.moment;
    let selection = selection(timeline, at.cursor, rows, under);
    if let Selection::Allocation(id) = selection {
        // A column may show several moments: take one at which the allocation is live.
        let last = timeline.lifetimes.end(id).map_or(u32::MAX, |end| end.0.saturating_sub(1));
        let start = timeline.lifetimes.start(id).0;
        moment = moment.map(|moment| Moment(moment.0.min(last).max(start)));
    }
    if let Some(moment) = moment {
        at.go_to(moment);
    }
    at.select(selection);
    if selection != Selection::None {
        state.expand(selection, under.row);
    }
}

/// The block or segment under the pointer.
pub(super) fn selection(
    timeline: &Timeline,
    cursor: Moment,
    rows: &SegmentRows,
    under: SegmentTimelineHit,
) -> Selection {
    match under.pixel {
        Pixel::Block(id) => Selection::Allocation(id),
        Pixel::Empty | Pixel::Share(_) => {
            let moment = under.moment.unwrap_or(cursor);
            let mut ranges = rows.ranges(under.row, timeline);
            let range = ranges.find(|range| range.is_live_at(moment) && range.contains(under.addr));
            range.map_or(Selection::None, |range| Selection::Segment { addr: range.addr })
        }
    }
}

/// Expand a row and select its segment, or make the row thin again.
pub(super) fn click_label(at: &mut Standpoint, state: &mut State, addr: u64, row: u32) {
    if !state.is_all_expanded && state.expanded.remove(&row) {
        return;
    }
    let selection = Selection::Segment { addr };
    state.expand(selection, row);
    at.select(selection);
}

/// The row of a selection.
pub(super) fn row_of(timeline: &Timeline, rows: &SegmentRows, selection: Selection) -> Option<u32> {
    match selection {
        Selection::Allocation(id) => rows.place(id, timeline).map(|place| place.row),
        Selection::Segment { addr } => rows.row_at(addr),
        Selection::None | Selection::Stack(_) => None,
    }
}
