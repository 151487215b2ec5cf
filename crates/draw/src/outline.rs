//! The outlines of what is selected and of what is under the pointer, the same in all pictures.

use super::Palette;
use super::color::LIGHTER_SHARE;
use egui::{Color32, Painter, Rect, Stroke, StrokeKind};

/// Width of the line around what is selected, in points.
const SELECTED_PX: f32 = 2.0;

/// Width of the line around what is under the pointer, in points.
const HOVERED_PX: f32 = 1.0;

/// Width of the edge on both sides of the line around what is selected, in points. With it, the line is seen on
/// grounds of its own lightness.
const EDGE_PX: f32 = 1.0;

/// The lines of an outline, the lower one first. What is only under the pointer has one.
pub(crate) fn strokes(palette: &Palette, is_selected: bool) -> Vec<Stroke> {
    let line = Color32::from(palette.outline);
    if is_selected {
        let edge = Stroke::new(SELECTED_PX + 2.0 * EDGE_PX, Color32::from(palette.window));
        vec![edge, Stroke::new(SELECTED_PX, line)]
    } else {
        vec![Stroke::new(HOVERED_PX, line)]
    }
}

/// What makes a place lighter without a change of its hue.
pub(crate) fn lighter() -> Color32 {
    Color32::WHITE.gamma_multiply(LIGHTER_SHARE)
}

/// Paint an outline around a rectangle; that of what is selected also makes it lighter.
pub(crate) fn outline(
    painter: &Painter,
    place: Rect,
    palette: &Palette,
    is_selected: bool,
    kind: StrokeKind,
) {
    if is_selected {
        painter.rect_filled(place, 0.0, lighter());
    }
    for stroke in strokes(palette, is_selected) {
        painter.rect_stroke(place, 0.0, stroke, kind);
    }
}
