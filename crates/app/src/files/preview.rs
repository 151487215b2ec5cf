//! The final segments and the shape of the curve, while a file is still being read.

use crate::theme;
use eframe::egui::{self, Mesh, Rect, Sense, WidgetInfo, pos2, vec2};
use oomscope_model::Bytes;
use oomscope_snapshot::load::{Outline, Seen, SeenSegments};
use oomscope_units as units;
use tr::tr;

/// Heights of the two pictures, in points.
const SEGMENTS_PX: f32 = 24.0;
const CURVE_PX: f32 = 120.0;

/// What was seen so far; `fraction` of the file is read.
pub(super) fn ui(ui: &mut egui::Ui, seen: &Seen, fraction: Option<f32>) {
    for (device, segments) in &seen.segments {
        ui.add_space(8.0);
        let reserved = units::bytes(segments.reserved_bytes);
        let active = units::bytes(segments.active_bytes);
        let device = units::capitalised(&device.to_string());
        ui.label(tr!(
            "{device} at the end: {reserved} reserved in {count} segment, {active} active"
                | "{device} at the end: {reserved} reserved in {count} segments, {active} active"
                    % segments.count,
            device,
            reserved,
            count = units::count(segments.count as u64),
            active
        ));
        segments_ui(ui, segments);
    }
    if seen.traces.is_empty() {
        return;
    }
    ui.add_space(8.0);
    ui.label(tr!("Allocated memory, event by event"));
    curves_ui(ui, seen, fraction.unwrap_or(1.0));
    let note = tr!("Level not known yet: the end of the file says how high the curve is.");
    ui.add(egui::Label::new(theme::muted(ui, note)).wrap());
}

/// The segments side by side, as wide as they are large; filled as far as their blocks are active.
fn segments_ui(ui: &mut egui::Ui, segments: &SeenSegments) {
    let palette = theme::palette(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), SEGMENTS_PX), Sense::hover());
    response.widget_info(|| {
        WidgetInfo::labeled(egui::Role::Canvas, true, tr!("Segments at the end of the recording"))
    });
    response
        .on_hover_text(tr!("Each segment as wide as it is large, filled as far as its blocks are active"));
    ui.painter().rect_filled(rect, 0.0, theme::color(palette.window));
    // One mesh: single rectangles would have soft edges, which show as seams.
    let mut mesh = Mesh::default();
    for (part, share) in segment_parts(rect, segments) {
        let top = part.bottom() - part.height() * share;
        mesh.add_colored_rect(part, theme::faded(palette.reserved, 0.35));
        mesh.add_colored_rect(part.with_min_y(top), theme::color(palette.accent));
    }
    ui.painter().add(mesh);
}

/// The place of each segment, with the share of it that is active. A gap parts those that are wide enough for one.
fn segment_parts(rect: Rect, segments: &SeenSegments) -> impl Iterator<Item = (Rect, f32)> + '_ {
    let all: f64 = segments.sizes.iter().map(|&(size, _)| size.or_zero().as_f64()).sum();
    let scale = f64::from(rect.width()) / all.max(1.0);
    let mut left = f64::from(rect.left());
    segments.sizes.iter().map(move |&(size, active)| {
        let width = size.or_zero().as_f64() * scale;
        let gap = if 3.0 <= width { 1.0 } else { 0.0 };
        let part = Rect::from_min_max(
            pos2(left as f32, rect.top()),
            pos2((left + width - gap) as f32, rect.bottom()),
        );
        left += width;
        (part, (active.or_zero().as_f64() / size.max(Bytes(1)).as_f64()).min(1.0) as f32)
    })
}

/// The curves of all traces in the order of the file, over the part of it that is read.
fn curves_ui(ui: &mut egui::Ui, seen: &Seen, fraction: f32) {
    let palette = theme::palette(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), CURVE_PX), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Canvas, true, tr!("Shape of the curve so far")));
    ui.painter().rect_filled(rect, 0.0, theme::color(palette.window));
    let events: u64 = seen.traces.values().map(Outline::events).sum();
    let (mut left, mut mesh) = (rect.left(), Mesh::default());
    for outline in seen.traces.values() {
        let width = rect.width() * fraction * (outline.events() as f64 / events.max(1) as f64) as f32;
        let part = Rect::from_min_size(pos2(left, rect.top()), vec2(width, rect.height()));
        for bar in curve_bars(part, outline) {
            mesh.add_colored_rect(bar, theme::color(palette.accent));
        }
        left += width;
    }
    ui.painter().add(mesh);
}

/// A bar for each step: from the bottom, where the lowest level so far is, to the highest level of the step.
fn curve_bars(rect: Rect, outline: &Outline) -> impl Iterator<Item = Rect> + '_ {
    let steps = outline.steps();
    let lowest = steps.iter().map(|step| step.0).min().unwrap_or_default().as_f64();
    let highest = steps.iter().map(|step| step.1).max().unwrap_or_default().as_f64();
    let scale = f64::from(rect.height()) * 0.95 / (highest - lowest).max(1.0);
    let step_px = f64::from(rect.width()) / outline.filled_steps().max(1.0);
    steps.iter().enumerate().map(move |(at, &(_, high))| {
        let x = |step: usize| rect.left() + (step as f64 * step_px) as f32;
        let top = rect.bottom() - ((high.as_f64() - lowest) * scale) as f32;
        Rect::from_min_max(pos2(x(at), top), pos2(x(at + 1).min(rect.right()), rect.bottom()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Rect = Rect { min: pos2(10.0, 20.0), max: pos2(110.0, 60.0) };

    #[test]
    fn segments_fill_the_width_by_their_sizes() {
        let segments = SeenSegments {
            sizes: vec![(Bytes(30), Bytes(30)), (Bytes(60), Bytes(15)), (Bytes(10), Bytes::ZERO)],
            ..SeenSegments::default()
        };
        let parts: Vec<(Rect, f32)> = segment_parts(PLACE, &segments).collect();
        let lefts: Vec<f32> = parts.iter().map(|(part, _)| part.left()).collect();
        let shares: Vec<f32> = parts.iter().map(|&(_, share)| share).collect();
        assert_eq!((lefts, shares), (vec![10.0, 40.0, 100.0], vec![1.0, 0.25, 0.0]));
        assert_eq!(parts[2].0.right(), 109.0);
    }

    #[test]
    fn absurd_sizes_stay_in_their_place() {
        let sizes = vec![(Bytes(-5), Bytes(7)), (Bytes::MAX, Bytes::MAX), (Bytes(0), Bytes(9))];
        let segments = SeenSegments { sizes, ..SeenSegments::default() };
        for (part, share) in segment_parts(PLACE, &segments) {
            assert!(
                PLACE.expand(0.01).contains_rect(part) && (0.0..=1.0).contains(&share),
                "{part:?} {share}"
            );
        }
    }
}
