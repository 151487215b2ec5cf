//! A request that failed, to scale beside the holes that it could have used.

use super::brush::{Area, Brush as _, MeshBrush};
use crate::{Palette, axis_font};
use egui::epaint::Mesh;
use egui::{Align2, Color32, FontId, Painter, Rect, Shape, Stroke, StrokeKind, pos2};
use oomscope_analysis::segment_state::RequestFit;
use oomscope_model::Bytes;
use oomscope_units as units;

/// Height of the picture: two bars and the gap between them.
pub const REQUEST_PX: f32 = 38.0;

/// Height of a bar.
const REQUEST_BAR_PX: f32 = 15.0;

/// Room for the names and sizes to the left of the bars.
const NAMES_PX: f32 = 150.0;

/// Holes are drawn up to this many times the request or the largest hole. More would make both too short to
/// compare.
const MOST_SHOWN: f64 = 2.5;

/// The reason why a request did not fit, as a sentence.
pub fn fit_text(fit: &RequestFit) -> String {
    let holes = match fit.holes {
        0 => return "Did not fit: no hole in its pool and stream".to_owned(),
        1 => format!("{} free in one hole", units::bytes(fit.hole_bytes)),
        n => format!("{} free in {} holes", units::bytes(fit.hole_bytes), units::count(n as u64)),
    };
    let large_enough = fit.holes - fit.too_small;
    let verdict = match (fit.holes, large_enough) {
        (1, 0) => "too small".to_owned(),
        (_, 0) => "each too small".to_owned(),
        _ if 0 < fit.kept_bytes => {
            format!("of which max_split_size_mb keeps {} for others", units::bytes(fit.kept_bytes))
        }
        (_, n) => format!("{} large enough as far as the events tell", units::count(n as u64)),
    };
    format!("Did not fit: {holes} of its pool and stream, {verdict}")
}

/// Paint the request above its holes, which are laid end to end, the largest first. Both have one
/// scale.
///
/// `sentence` says what happened. Returns false if there is no room for it behind the bars.
pub fn request(
    painter: &Painter,
    rect: Rect,
    fit: &RequestFit,
    sentence: &str,
    palette: &Palette,
    scale: f32,
) -> bool {
    let bars = Rect::from_min_max(pos2(rect.left() + NAMES_PX, rect.top()), rect.max);
    if bars.width() < 20.0 {
        return false;
    }
    let requested = fit.requested_bytes.max(Bytes(1)).as_f64();
    let most = requested.max(fit.largest_bytes.as_f64()) * MOST_SHOWN;
    let all = most.min(fit.hole_bytes.as_f64()).max(requested).max(fit.largest_bytes.as_f64());
    let per_byte = f64::from(bars.width()) / all;
    let x = |bytes: f64| bars.left() + (bytes * per_byte) as f32;
    let line = |i: f32| {
        let top = rect.top() + 1.0 + i * (REQUEST_BAR_PX + 6.0);
        [top, top + REQUEST_BAR_PX]
    };
    let oom = Color32::from(palette.oom);
    let bar = |to: f32, [top, bottom]: [f32; 2]| Rect::from_x_y_ranges(bars.left()..=to, top..=bottom);
    name(painter, rect.left(), line(0.0), "Request", fit.requested_bytes, oom);
    let request = bar(x(requested), line(0.0));
    painter.rect(request, 0.0, oom.gamma_multiply(0.35), Stroke::new(1.0, oom), StrokeKind::Inside);
    let text = Color32::from(palette.text);
    name(painter, rect.left(), line(1.0), "Largest hole", fit.largest_bytes, text);
    let holes_end = holes(painter, bars, line(1.0), fit, palette, per_byte, scale);
    // A line down from the end of the request shows how much the largest hole lacks.
    let end = x(requested).round() - 0.5;
    painter.extend(Shape::dashed_line(
        &[pos2(end, line(0.0)[1]), pos2(end, line(1.0)[1] + 2.0)],
        Stroke::new(1.0, oom),
        3.0,
        3.0,
    ));
    let galley = painter.layout_no_wrap(sentence.to_owned(), FontId::proportional(12.0), oom);
    for (after, [top, bottom]) in [(end, line(0.0)), (holes_end.max(end), line(1.0)), (holes_end, line(1.0))]
    {
        let at = pos2(after + 10.0, f32::midpoint(top, bottom) - galley.size().y / 2.0);
        if at.x + galley.size().x <= rect.right() {
            painter.galley(at, galley, oom);
            return true;
        }
    }
    false
}

fn name(painter: &Painter, left: f32, y: [f32; 2], name: &str, bytes: Bytes, color: Color32) {
    let y = f32::midpoint(y[0], y[1]);
    painter.text(pos2(left, y), Align2::LEFT_CENTER, name, axis_font(), color);
    let right = left + NAMES_PX - 10.0;
    painter.text(pos2(right, y), Align2::RIGHT_CENTER, units::bytes(bytes), axis_font(), color);
}

/// Paint holes end to end. Returns the x coordinate of their end.
fn holes(
    painter: &Painter,
    bars: Rect,
    y: [f32; 2],
    fit: &RequestFit,
    palette: &Palette,
    per_byte: f64,
    scale: f32,
) -> f32 {
    let mut brush = MeshBrush { mesh: Mesh::default(), origin: bars.min, scale };
    let px = |points: f32| (points * scale).round() as i32;
    let rows = px(y[0] - bars.top())..px(y[1] - bars.top());
    let width = px(bars.width());
    let mut before = 0.0;
    for (i, &bytes) in fit.largest_holes.iter().enumerate() {
        let at = |bytes: f64| ((bytes * per_byte) as f32 * scale).round().min(width as f32) as i32;
        let x = at(before)..at(before + bytes.as_f64());
        before += bytes.as_f64();
        if x.is_empty() {
            break;
        }
        let strength = if i == 0 { 0.5 } else { 0.24 };
        let area = Area::new(x.clone(), rows.clone());
        brush.fill(&area, palette.window.mix(palette.muted, 0.08));
        brush.hatch(&area, palette.window.mix(palette.muted, strength));
        let edge = palette.window.mix(palette.muted, if i == 0 { 0.9 } else { 0.5 });
        for side in [x.start..x.start + 1, x.end - 1..x.end] {
            brush.fill(&Area::new(side, rows.clone()), edge);
        }
        for side in [rows.start..rows.start + 1, rows.end - 1..rows.end] {
            brush.fill(&Area::new(x.clone(), side), edge);
        }
    }
    painter.add(Shape::mesh(brush.mesh));
    bars.right().min(bars.left() + (before * per_byte) as f32)
}
