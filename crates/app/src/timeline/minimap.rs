//! The minimap: the whole recording, and a brush over the part that the timeline shows.

use crate::accessible;
use crate::device::Standpoint;
use crate::work::memo::Memo;
use eframe::egui::{self, CursorIcon, Rect, Sense};
use oomscope_draw::{ColumnTotals, Palette, TimelineCanvas, View};
use oomscope_model::Timeline;
use std::rc::Rc;
use tr::tr;

/// Largest distance from an edge of the brush, in points, at which a drag moves just that edge.
const EDGE_PX: f32 = 5.0;

/// The minimap's own state, kept between frames.
#[derive(Default)]
pub(crate) struct State {
    /// By all there is to show, and number of columns.
    totals: Memo<(View, usize), Rc<ColumnTotals>>,
    drag: Option<Drag>,
}

/// The thing that is dragged, with positions on the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Drag {
    /// The brush; its start lies this far before the pointer.
    Whole { before: f64 },
    /// One edge; the other stays.
    Edge { other: f64 },
}

pub(super) fn ui(
    ui: &egui::Ui,
    rect: Rect,
    palette: &Palette,
    timeline: &Timeline,
    at: &mut Standpoint,
    state: &mut State,
) {
    // Wider than the strip, so that an edge of the brush at its end can be taken from both sides.
    let response = ui.interact(
        rect.expand2(egui::vec2(EDGE_PX, 0.0)),
        ui.scope_id().with("minimap"),
        Sense::click_and_drag(),
    );
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, tr!("Minimap")));
    let (full, view) = (at.full, at.view);
    let canvas = TimelineCanvas { painter: ui.painter(), rect, view: &full, timeline, palette };
    let brush = canvas.brush_rect(&view);
    let columns = (rect.width().round() as usize).max(1);
    let totals = || Rc::new(ColumnTotals::of_view(timeline, &full, columns));
    canvas.minimap(&state.totals.get((full, columns), totals), &view, at.cursor);
    if let Some(pointer) = response.hover_pos() {
        ui.set_cursor_icon(cursor_icon(pointer, brush));
    }
    if response.double_clicked() || accessible::is_pressed_by_key(&response) {
        at.fit();
    } else if let Some(pointer) = response.interact_pointer_pos() {
        let x = f64::from((pointer.x - rect.left()) / rect.width().max(1.0));
        let position = full.position_from_x(x.clamp(0.0, 1.0));
        drag(&response, at, &mut state.drag, position, pointer, brush);
    }
}

fn cursor_icon(pointer: egui::Pos2, brush: Rect) -> CursorIcon {
    if edge(pointer, brush).is_some() {
        CursorIcon::ResizeHorizontal
    } else if brush.x_range().contains(pointer.x) {
        CursorIcon::Grab
    } else {
        CursorIcon::Crosshair
    }
}

/// The edge of the brush under the pointer: 0 for the left one, 1 for the right one.
fn edge(pointer: egui::Pos2, brush: Rect) -> Option<usize> {
    let far = [brush.left(), brush.right()].map(|x| (pointer.x - x).abs());
    let nearest = usize::from(far[1] < far[0]);
    (far[nearest] <= EDGE_PX).then_some(nearest)
}

fn drag(
    response: &egui::Response,
    at: &mut Standpoint,
    state: &mut Option<Drag>,
    position: f64,
    pointer: egui::Pos2,
    brush: Rect,
) {
    let view = at.view;
    if response.drag_started() {
        // A drag is only noticed some points later: its first point decides.
        let start = response.ctx.input(|input| input.pointer.press_origin()).unwrap_or(pointer);
        at.leave();
        *state = Some(match edge(start, brush) {
            Some(0) => Drag::Edge { other: view.x1 },
            Some(_) => Drag::Edge { other: view.x0 },
            None if brush.x_range().contains(start.x) => Drag::Whole { before: position - view.x0 },
            None => Drag::Edge { other: position },
        });
    }
    let full = at.full;
    match *state {
        Some(drag) if response.dragged() => at.view = dragged(view, drag, position, &full),
        _ if response.clicked() && !brush.x_range().contains(pointer.x) => {
            at.show(centered(view, position, &full));
        }
        _ => {}
    }
    if response.drag_stopped() {
        *state = None;
    }
}

fn dragged(view: View, drag: Drag, at: f64, full: &View) -> View {
    match drag {
        Drag::Whole { before } => {
            let x0 = (at - before).clamp(full.x0, (full.x1 - view.span()).max(full.x0));
            view.of_range(x0, x0 + view.span(), full)
        }
        Drag::Edge { other } => view.of_range(at.min(other), at.max(other), full),
    }
}

fn centered(view: View, at: f64, full: &View) -> View {
    let half = view.span() / 2.0;
    view.of_range(at - half, at + half, full)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_draw::Axis;

    const FULL: View = View { axis: Axis::Event, x0: 0.0, x1: 1000.0, y0: 0.0, y1: 1e6 };

    #[test]
    fn the_brush_moves_and_stays_inside() {
        let view = View { x0: 100.0, x1: 300.0, ..FULL };
        let moved = dragged(view, Drag::Whole { before: 50.0 }, 450.0, &FULL);
        assert_eq!((moved.x0, moved.x1), (400.0, 600.0));
        let moved = dragged(view, Drag::Whole { before: 50.0 }, 1000.0, &FULL);
        assert_eq!((moved.x0, moved.x1), (800.0, 1000.0));
    }

    #[test]
    fn edges_may_cross() {
        let view = View { x0: 100.0, x1: 300.0, ..FULL };
        let wider = dragged(view, Drag::Edge { other: 100.0 }, 700.0, &FULL);
        assert_eq!((wider.x0, wider.x1), (100.0, 700.0));
        let crossed = dragged(view, Drag::Edge { other: 100.0 }, 20.0, &FULL);
        assert_eq!((crossed.x0, crossed.x1), (20.0, 100.0));
    }

    #[test]
    fn edges_are_near_their_line() {
        let brush = Rect::from_min_max(egui::pos2(100.0, 0.0), egui::pos2(200.0, 30.0));
        assert_eq!(edge(egui::pos2(98.0, 10.0), brush), Some(0));
        assert_eq!(edge(egui::pos2(203.0, 10.0), brush), Some(1));
        assert_eq!(edge(egui::pos2(150.0, 10.0), brush), None);
    }
}
