//! Both curves on one axis.

use super::computing::Curves;
use super::ways::{Ranges, Way};
use crate::{accessible, theme};
use eframe::egui::text::{LayoutJob, TextWrapping};
use eframe::egui::{self, Align, Align2, Pos2, Rect, Sense, Shape, Stroke, TextStyle, pos2, vec2};
use oomscope_analysis::comparison::AlignedColumn;
use oomscope_draw::{Palette, Rgb, byte_ticks};
use oomscope_model::{Bytes, Moment};
use oomscope_units as units;
use tr::tr;

/// Room for the labels of the axis of places below, and of that of bytes at the left, in points.
const LABELS_PX: f32 = 18.0;
const BYTES_PX: f32 = 62.0;

/// Labels of the axis of bytes, at most.
const MAX_TICKS: usize = 4;

/// Widths of the lines of both sides, in points: they differ without colours, too.
const LINE_PX: [f32; 2] = [1.0, 2.25];

/// Least height of the curves, in points: less shows no shape.
const MIN_PX: f32 = 48.0;

/// The colour of a side: the other one is muted.
pub(super) fn side_color(palette: &Palette, side: usize) -> Rgb {
    if side == 0 { palette.muted } else { palette.accent }
}

/// Draw both curves. Returns the moments of both sides at a place that was clicked.
pub(super) fn ui(ui: &mut egui::Ui, curves: &Curves) -> Option<[Option<Moment>; 2]> {
    let palette = theme::palette(ui);
    let size = vec2(ui.available_width(), ui.available_height().max(MIN_PX + LABELS_PX));
    let (all, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let rect = Rect::from_min_max(
        pos2(all.left() + BYTES_PX, all.top()),
        pos2(all.right(), all.bottom() - LABELS_PX),
    );
    accessible::picture(&response, &tr!("Both curves"), || words(curves));
    let most = curves.columns.iter().flat_map(|column| column.peaks).flatten().map(|peak| peak.1).max();
    let most = most.unwrap_or_default().max(Bytes(1));
    let painter = ui.painter_at(all);
    painter.rect_filled(rect, 2.0, theme::color(palette.window));
    bytes_axis(ui, rect, most, palette);
    for side in [0, 1] {
        let color = theme::color(side_color(palette, side));
        for line in lines(&curves.columns, side, rect, most) {
            painter.add(Shape::line(line, Stroke::new(LINE_PX[side], color)));
        }
        let Some(share) = curves.moments[side] else { continue };
        let x = rect.left() + share as f32 * rect.width();
        let mark = [pos2(x, rect.top()), pos2(x, rect.bottom())];
        painter.extend(Shape::dashed_line(&mark, Stroke::new(1.0, color), 4.0, 4.0));
    }
    labels(ui, curves, Rect::from_x_y_ranges(rect.x_range(), all.y_range()), palette);
    let at = response.interact_pointer_pos().or(response.hover_pos())?;
    let share = f64::from((at.x - rect.left()) / rect.width().max(1.0)).clamp(0.0, 1.0);
    let column = ((share * curves.columns.len() as f64) as usize).min(curves.columns.len().checked_sub(1)?);
    let column = curves.columns.get(column)?;
    painter.vline(at.x, rect.y_range(), Stroke::new(1.0, theme::color(palette.muted)));
    let is_chosen = response.clicked() || response.dragged();
    response.on_hover_ui_at_pointer(|ui| {
        ui.label(theme::strong(place_text(curves, share), 13.0));
        for (name, peak) in ["A", "B"].into_iter().zip(column.peaks) {
            let text = peak.map_or_else(|| tr!("not recorded"), |(_, bytes)| units::bytes(bytes));
            ui.label(format!("{name}: {text}"));
        }
        ui.label(theme::muted(ui, tr!("Click to move the cursors of both there")));
    });
    is_chosen.then(|| column.peaks.map(|peak| peak.map(|(moment, _)| moment)))
}

/// The parts of a curve that were recorded.
fn lines(columns: &[AlignedColumn], side: usize, rect: Rect, most: Bytes) -> Vec<Vec<Pos2>> {
    let width = rect.width() / columns.len().max(1) as f32;
    let mut lines: Vec<Vec<Pos2>> = vec![Vec::new()];
    for (at, column) in columns.iter().enumerate() {
        let x = rect.left() + (at as f32 + 0.5) * width;
        match column.peaks[side] {
            Some((_, bytes)) => {
                let y = y_of(rect, bytes.or_zero().as_f64(), most);
                lines.last_mut().into_iter().for_each(|line| line.push(pos2(x, y)));
            }
            None => lines.push(Vec::new()),
        }
    }
    lines.retain(|line| 1 < line.len());
    lines
}

/// The height of an amount.
fn y_of(rect: Rect, bytes: f64, most: Bytes) -> f32 {
    rect.bottom() - (bytes / most.as_f64()) as f32 * (rect.height() - 2.0)
}

/// Amounts at the left, each with a line.
fn bytes_axis(ui: &egui::Ui, rect: Rect, most: Bytes, palette: &Palette) {
    let font = TextStyle::Small.resolve(ui.style());
    for tick in byte_ticks(0.0, most.as_f64(), MAX_TICKS) {
        let y = y_of(rect, tick.at, most);
        ui.painter().hline(rect.x_range(), y, Stroke::new(1.0, theme::faded(palette.line, 0.8)));
        let at = pos2(rect.left() - 6.0, y.clamp(rect.top() + 6.0, rect.bottom() - 6.0));
        ui.painter().text(at, Align2::RIGHT_CENTER, tick.label, font.clone(), theme::color(palette.muted));
    }
}

/// The lines of both sides with what they are.
pub(super) fn legend_ui(ui: &mut egui::Ui, titles: [&str; 2]) {
    let palette = theme::palette(ui);
    for (side, title) in titles.into_iter().enumerate() {
        let (sample, _) = ui.allocate_exact_size(vec2(18.0, 14.0), Sense::hover());
        let line = Stroke::new(LINE_PX[side], theme::color(side_color(palette, side)));
        ui.painter().hline(sample.x_range(), sample.center().y, line);
        let name = ["A", "B"][side];
        ui.add(egui::Label::new(theme::small(format!("{name}: {title}"))).extend());
    }
}

fn labels(ui: &egui::Ui, curves: &Curves, all: Rect, palette: &Palette) {
    let font = TextStyle::Small.resolve(ui.style());
    let color = theme::color(palette.muted);
    let painter = ui.painter();
    for (share, side) in [(0.0, Align::LEFT), (1.0, Align::RIGHT)] {
        let mut job = LayoutJob::simple_singleline(place_text(curves, share), font.clone(), color);
        // Names of ranges may be as long as they like, and the ends must not meet.
        job.wrap = TextWrapping::truncate_at_width((all.width() / 2.0 - 8.0).max(0.0));
        let galley = painter.layout_job(job);
        let x = if side == Align::LEFT { all.left() } else { all.right() - galley.size().x };
        painter.galley(pos2(x, all.bottom() - f32::midpoint(LABELS_PX, galley.size().y)), galley, color);
    }
}

/// What is at the same places, in words.
fn words(curves: &Curves) -> String {
    match &curves.ranges {
        Some(ranges) => tr!("aligned by {}", ranges.name()),
        None => tr!("aligned by {}", curves.way.name()),
    }
}

/// A place on the axis, in its unit.
fn place_text(curves: &Curves, share: f64) -> String {
    let [from, to] = curves.span;
    let place = from + (to - from) * share;
    match curves.way {
        Way::Events => tr!("event {}", units::count((place - 1.0).max(0.0) as u64)),
        Way::Time => units::duration_us(place as i64),
        Way::Iterations if place < 0.0 => tr!("before iteration 0"),
        Way::Iterations => tr!("iteration {place}", place = format_args!("{place:.1}")),
        Way::Range => curves.ranges.as_ref().map_or_else(String::new, |ranges| range_text(ranges, place)),
    }
}

/// A place in ranges: which of them, and how much of the way to the next, or to the end of the last.
fn range_text(ranges: &Ranges, place: f64) -> String {
    let (name, count) = (ranges.name(), ranges.count());
    let at = (place.max(0.0) as usize).min(count.saturating_sub(1));
    let percent = (place - at as f64) * 100.0;
    let name = if 1 < count {
        tr!(
            "{name}, {number} of {all}",
            name,
            number = units::count(at as u64 + 1),
            all = units::count(count as u64)
        )
    } else {
        name
    };
    match percent {
        ..=0.0 => tr!("start of {name}", name),
        100.0.. => tr!("end of {name}", name),
        _ => format!("{name}, +{percent:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::by_ptr::ByPtr;
    use oomscope_analysis::MomentRange;
    use oomscope_analysis::comparison::CommonRange;
    use std::sync::Arc;

    #[test]
    fn places_in_ranges_are_named() {
        let range = MomentRange { from: Moment(0), to: Moment(4) };
        let name = "step\n1".to_owned();
        let ranges = [Arc::from([range; 3]), Arc::from([range; 2])];
        let named = Ranges::Named(ByPtr(Arc::new(CommonRange { name, ranges })));
        let texts = [0.0, 1.0, 2.4, 3.0].map(|place| range_text(&named, place));
        let expected = [
            "start of step�1, 1 of 3",
            "start of step�1, 2 of 3",
            "step�1, 3 of 3, +40 %",
            "end of step�1, 3 of 3",
        ];
        assert_eq!(texts, expected);
        let texts = [0.0, 0.5, 1.0].map(|place| range_text(&Ranges::Marked([range; 2]), place));
        assert_eq!(
            texts,
            ["start of the marked ranges", "the marked ranges, +50 %", "end of the marked ranges"]
        );
    }
}
