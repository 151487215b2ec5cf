//! Marking a range: drawn with Ctrl held, and changed at its ends.

use super::state::State;
use crate::device::Standpoint;
use crate::theme;
use eframe::egui::{self, CursorIcon, Rect, Stroke, vec2};
use oomscope_analysis::MomentRange;
use oomscope_draw::TimelineCanvas;
use oomscope_model::{Moment, Timeline};

/// Distance from an end, in points, within which the pointer takes hold of it.
const GRIP_PX: f32 = 5.0;

/// Size of the handle in the middle of each end, in points: large enough to be seen on coloured bands.
const HANDLE_PX: egui::Vec2 = vec2(5.0, 22.0);

/// Draw a range with Ctrl held, or drag an end of the one that is there.
pub(super) fn drag(response: &egui::Response, timeline: &Timeline, at: &mut Standpoint, state: &mut State) {
    let ctx = &response.ctx;
    let (pointer, origin, is_ctrl) = ctx
        .input(|input| (input.pointer.latest_pos(), input.pointer.press_origin(), input.modifiers.command));
    let ends = at.range().map(|range| [range.from, range.to]);
    let x_of = |moment: Moment, at: &Standpoint| x_of(response.rect, timeline, at, moment);
    // The other end of the one that is near a point.
    let opposite = |point: egui::Pos2, at: &Standpoint| {
        let near = |moment: Moment| (point.x - x_of(moment, at)).abs() <= GRIP_PX;
        ends.and_then(|[from, to]| if near(to) { Some(from) } else { near(from).then_some(to) })
    };
    if response.hover_pos().is_some_and(|point| opposite(point, at).is_some()) {
        ctx.set_cursor_icon(CursorIcon::ResizeHorizontal);
    }
    if response.drag_started()
        && let Some(origin) = origin
    {
        let new = || is_ctrl.then(|| moment_at(response.rect, timeline, at, origin.x));
        state.range_from = opposite(origin, at).or_else(new);
        if state.range_from.is_some() {
            at.leave();
        }
    }
    let Some(from) = state.range_from else { return };
    if let Some(pointer) = pointer {
        at.draw_range(MomentRange::between(from, moment_at(response.rect, timeline, at, pointer.x)));
    }
    if response.drag_stopped() {
        state.range_from = None;
        state.has_new_range = at.range().is_some();
    }
}

/// The moment at an x coordinate of the picture.
fn moment_at(rect: Rect, timeline: &Timeline, at: &Standpoint, x: f32) -> Moment {
    let x = f64::from((x - rect.left()) / rect.width().max(1.0)).clamp(0.0, 1.0);
    let last = timeline.moments().saturating_sub(1) as u32;
    Moment((at.view.on(timeline).moment_from_x(x).max(0.0) as u32).min(last))
}

/// The x coordinate at which a moment's line is painted.
fn x_of(rect: Rect, timeline: &Timeline, at: &Standpoint, moment: Moment) -> f32 {
    let (from, to) = at.view.on(timeline).positions_of(moment);
    let x = at.view.x_from_position(match at.view.axis {
        oomscope_draw::Axis::Event => f64::midpoint(from, to),
        oomscope_draw::Axis::Time => from,
    });
    rect.left() + (x * f64::from(rect.width())) as f32
}

/// Tint the range, with a handle at both ends.
pub(crate) fn paint(canvas: &TimelineCanvas<'_>, range: MomentRange) {
    let painter = canvas.inside();
    let [left, right] = [range.from, range.to].map(|moment| canvas.x_middle(moment).round());
    let band = Rect::from_x_y_ranges(left..=right, canvas.rect.y_range());
    let accent = canvas.palette.accent;
    painter.rect_filled(band, 0.0, theme::faded(accent, 0.13));
    for x in [left, right] {
        painter.vline(x, canvas.rect.y_range(), Stroke::new(1.0, theme::color(accent)));
        let handle = Rect::from_center_size(egui::pos2(x, canvas.rect.center().y), HANDLE_PX);
        painter.rect(
            handle,
            2.0,
            theme::color(canvas.palette.panel),
            Stroke::new(1.0, theme::color(accent)),
            egui::StrokeKind::Inside,
        );
    }
}
