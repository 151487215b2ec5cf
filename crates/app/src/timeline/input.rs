//! The mouse on the timeline.

use super::pictures::Shown;
use crate::device::{Selection, Standpoint, TimelineMode};
use eframe::egui::{self, Pos2, Rect, Sense};
use oomscope_draw::{Pixel, View, range_of_band};
use oomscope_model::{Moment, Timeline};
use oomscope_report as report;
use tr::tr;

/// Logarithm of the zoom for each point of wheel movement: a notch of 40 points zooms by about a fifth.
const ZOOM_PER_POINT: f32 = 0.005;

/// The place under the pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Under {
    pub(crate) pixel: Pixel,
    /// The memory that the bands of the picture are.
    pub(crate) mode: TimelineMode,
    /// The moment that the column shows.
    pub(crate) moment: Option<Moment>,
}

/// Zoom by the wheel, and pan by dragging if `pans`.
pub(crate) fn navigate(ui: &egui::Ui, response: &egui::Response, at: &mut Standpoint, pans: bool) {
    let rect = response.rect;
    let size = rect.size().max(egui::vec2(1.0, 1.0));
    if response.dragged() && pans {
        let moved = response.drag_delta() / size;
        at.view = at.view.pan(f64::from(-moved.x), f64::from(moved.y), &at.full);
    }
    let Some(pointer) = response.hover_pos() else { return };
    let (scroll, is_vertical) = ui.input(|input| (input.smooth_scroll_delta, input.modifiers.shift));
    let place = (pointer - rect.min) / size;
    let (x, y) = (f64::from(place.x), f64::from(1.0 - place.y));
    if is_vertical {
        // With Shift held, a wheel's movement may arrive as a horizontal one.
        let factor = f64::from(((scroll.x + scroll.y) * ZOOM_PER_POINT).exp());
        if factor != 1.0 {
            at.fits_height = false;
            at.view = at.view.zoom_at(x, y, 1.0, factor, &at.full);
        }
    } else {
        zoom_in_time(ui, at, x, size.x);
    }
}

/// Follow the wheel: zoom at the fraction `x` of the width from the left, and pan.
pub(crate) fn zoom_in_time(ui: &egui::Ui, at: &mut Standpoint, x: f64, width_px: f32) {
    let (scroll, zoom) = ui.input(|input| (input.smooth_scroll_delta, input.zoom_delta()));
    if scroll != egui::Vec2::ZERO || zoom != 1.0 {
        let factor = f64::from((scroll.y * ZOOM_PER_POINT).exp() * zoom);
        let zoomed = at.view.zoom_at(x, 0.0, factor, 1.0, &at.full);
        at.view = zoomed.pan(f64::from(-scroll.x / width_px), 0.0, &at.full);
    }
}

/// The axis below the picture. The cursor follows a drag along it.
pub(crate) fn scrub(ui: &egui::Ui, axis: Rect, picture: Rect, timeline: &Timeline, at: &mut Standpoint) {
    let response = ui.interact(axis, ui.scope_id().with("axis"), Sense::click_and_drag());
    response.widget_info(|| {
        let mut info = egui::WidgetInfo::labeled(egui::Role::Slider, true, tr!("Cursor"));
        info.current_text_value = Some(at.words());
        info
    });
    // Once for a whole drag, so that one step back undoes it.
    if response.drag_started() || response.clicked() {
        at.leave();
    }
    let moment_at = |pointer: Pos2, at: &Standpoint| {
        let x = f64::from((pointer.x - picture.left()) / picture.width().max(1.0)).clamp(0.0, 1.0);
        let last = timeline.moments().saturating_sub(1) as u32;
        Moment((at.view.on(timeline).moment_from_x(x).max(0.0) as u32).min(last))
    };
    if let Some(pointer) = response.interact_pointer_pos() {
        at.move_to(moment_at(pointer, at));
    }
    let hovered = response.hover_pos().map(|pointer| moment_at(pointer, at));
    let response = response.on_hover_cursor(egui::CursorIcon::ResizeHorizontal);
    if let Some(moment) = hovered {
        response.on_hover_ui_at_pointer(|ui| {
            ui.label(report::when_text(timeline, moment));
        });
    }
}

/// Zoom to the lifetime of the block at a double click, or else to everything.
pub(super) fn double_click(timeline: &Timeline, at: &mut Standpoint, under: Under) {
    match selection(timeline, under) {
        Selection::Allocation(id) => at.zoom_to_lifetime(id),
        _ => at.fit(),
    }
}

/// Put the cursor where a click was, and select the block or segment there.
pub(super) fn click(timeline: &Timeline, at: &mut Standpoint, under: Under) {
    if let Some(moment) = under.moment {
        at.go_to(moment);
    }
    at.select(selection(timeline, under));
}

/// The selection that a click on a band makes.
pub(super) fn selection(timeline: &Timeline, under: Under) -> Selection {
    let Pixel::Block(id) = under.pixel else { return Selection::None };
    match under.mode {
        // Larger ids are bands of pools.
        TimelineMode::Blocks if id.index() < timeline.lifetimes.len() => Selection::Allocation(id),
        TimelineMode::Blocks => Selection::None,
        TimelineMode::Segments => range_of_band(id, timeline)
            .map_or(Selection::None, |range| Selection::Segment { addr: range.addr }),
    }
}

/// The place of the picture under a point. The picture may be one of an earlier view, which is stretched.
pub(crate) fn under(shown: &Shown, rect: Rect, view: &View, pointer: Pos2) -> Under {
    let nothing = Under { pixel: Pixel::Empty, mode: shown.mode, moment: None };
    let (old, [width, height]) = (&shown.picture.view, shown.picture.raster.size_px);
    if old.axis != view.axis {
        return nothing;
    }
    let at = (pointer - rect.min) / rect.size();
    let x = old.x_from_position(view.position_from_x(f64::from(at.x))) * width as f64;
    let y = (1.0 - old.y_from_bytes(view.bytes_from_y(f64::from(1.0 - at.y)))) * height as f64;
    let is_inside = (0.0..width as f64).contains(&x) && (0.0..height as f64).contains(&y);
    if !is_inside {
        return nothing;
    }
    let (x, y) = (x as usize, y as usize);
    Under {
        pixel: shown.picture.raster.pixel(x, y),
        mode: shown.mode,
        moment: shown.picture.raster.moments.get(x).copied().flatten(),
    }
}
