//! Named ranges in lanes above the timeline.

use super::canvas::TimelineCanvas;
use super::marks::axis_font;
use crate::{Axis, Palette, Rgb};
use egui::text::{LayoutJob, TextWrapping};
use egui::{Color32, Pos2, Rect, pos2};
use oomscope_analysis::{Lanes, NamedRange, RangeName};
use oomscope_model::Snapshot;
use oomscope_units as units;

/// Height of a lane, with the gap around its text.
pub const LANE_PX: f32 = 16.0;

/// Iterations have the word beside the number from this width on, where it mostly fits.
const MIN_ITERATION_PX: f32 = 72.0;

/// Bytes of a name that its colour comes from: more than names have that programs give.
const MAX_HASHED_BYTES: usize = 1024;

/// Narrower ranges, in points, are one block with their neighbours.
const MIN_RANGE_PX: f32 = 8.0;

/// Ranges of which the colours of a run are mixed.
const MAX_MIXED: usize = 64;

/// Ranges have text from this width on: there is room for about three letters.
const MIN_TEXT_PX: f32 = 24.0;

impl TimelineCanvas<'_> {
    /// Paint as many lanes as fit into a rectangle, from its top, with the time axis of the view.
    pub fn lanes(&self, snapshot: &Snapshot, lanes: &Lanes, rect: Rect) {
        let painter = self.painter.with_clip_rect(rect.intersect(self.painter.clip_rect()));
        let room = (rect.height() / LANE_PX + 0.5) as usize;
        for (lane, ranges) in lanes.lanes.iter().take(room).enumerate() {
            let top = rect.top() + lane as f32 * LANE_PX;
            let first = ranges.partition_point(|range| self.range_x(range)[1] < rect.left());
            let mut rest = &ranges[first..];
            while let Some((run, later)) =
                self.next_run(rest).filter(|(run, _)| self.left(run) <= rect.right())
            {
                rest = later;
                let [left, right] = [self.left(run), self.right(run)];
                let place = Rect::from_min_max(
                    pos2(left.max(rect.left() - 8.0), top + 1.0),
                    pos2((right - 1.0).max(left + 0.75).min(rect.right() + 8.0), top + LANE_PX - 1.0),
                );
                let ground = self.run_color(snapshot, run);
                painter.rect_filled(place, 2.0, Color32::from(ground));
                let place = place.intersect(rect);
                match run {
                    [range] => lane_text(snapshot, range, place, ground, &painter),
                    [..] => run_text(snapshot, run, place, ground, &painter),
                }
            }
        }
    }

    /// The first range, or it and its neighbours where all of them are narrow and close: together they are one block, as single
    /// ones would make a comb.
    fn next_run<'r>(&self, ranges: &'r [NamedRange]) -> Option<(&'r [NamedRange], &'r [NamedRange])> {
        let is_narrow = |range: &NamedRange| {
            let [left, right] = self.range_x(range);
            right - left < MIN_RANGE_PX
        };
        let first = ranges.first()?;
        let mut count = 1;
        if is_narrow(first) {
            let is_close = |pair: &&[NamedRange]| {
                let [before, next] = pair else { return false };
                is_narrow(next) && self.range_x(next)[0] - self.range_x(before)[1] < MIN_RANGE_PX
            };
            count += ranges.windows(2).take_while(is_close).count();
        }
        Some(ranges.split_at(count))
    }

    fn left(&self, run: &[NamedRange]) -> f32 {
        run.first().map_or(f32::INFINITY, |range| self.range_x(range)[0])
    }

    fn right(&self, run: &[NamedRange]) -> f32 {
        let right = run.last().map_or(f32::NEG_INFINITY, |range| self.range_x(range)[1]);
        right.max(self.left(run) + 1.0)
    }

    /// The colour of a range, or the mean of those of a run.
    fn run_color(&self, snapshot: &Snapshot, run: &[NamedRange]) -> Rgb {
        // More would not change the mean of a repeated pattern.
        let colors: Vec<Rgb> =
            run.iter().take(MAX_MIXED).map(|range| self.lane_color(snapshot, range)).collect();
        let mean = |part: fn(&Rgb) -> u8| {
            let sum: usize = colors.iter().map(|color| usize::from(part(color))).sum();
            (sum / colors.len().max(1)) as u8
        };
        Rgb(mean(|color| color.0), mean(|color| color.1), mean(|color| color.2))
    }

    /// The range under the pointer, of lanes that were painted in a rectangle.
    pub fn lane_at<'r>(&self, lanes: &'r Lanes, rect: Rect, pointer: Pos2) -> Option<&'r NamedRange> {
        if !rect.contains(pointer) {
            return None;
        }
        let ranges = lanes.lanes.get(((pointer.y - rect.top()) / LANE_PX) as usize)?;
        let at = ranges
            .partition_point(|range| self.range_x(range)[1].max(self.range_x(range)[0] + 1.0) < pointer.x);
        ranges.get(at).filter(|range| self.range_x(range)[0] <= pointer.x)
    }

    fn range_x(&self, range: &NamedRange) -> [f32; 2] {
        match self.view.axis {
            Axis::Event => range.moments.map(|moment| self.x_at(f64::from(moment.0))),
            Axis::Time => range.time_us.map(|time_us| self.x_at(time_us as f64)),
        }
    }

    fn lane_color(&self, snapshot: &Snapshot, range: &NamedRange) -> Rgb {
        let name = match range.name {
            // One hue for all iterations; only neighbours differ, in lightness.
            RangeName::Iteration { number, .. } => return self.iteration_color(number),
            RangeName::Phase(phase) => {
                return self.palette.phase(phase).mix(self.palette.panel, 0.55);
            }
            RangeName::Recorded(name) => snapshot.strings.name(name),
        };
        let hash = name.as_bytes().iter().take(MAX_HASHED_BYTES).fold(0u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(7)
        });
        self.palette.hashed(hash).mix(self.palette.panel, 0.55)
    }

    fn iteration_color(&self, number: u32) -> Rgb {
        let share = if number.is_multiple_of(2) { 0.65 } else { 0.75 };
        self.palette.muted.mix(self.palette.panel, share)
    }
}

/// Paint what a run of narrow ranges is, if it has one name: `iterations 1–90`, `forward ×270`.
fn run_text(snapshot: &Snapshot, run: &[NamedRange], place: Rect, ground: Rgb, painter: &egui::Painter) {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return };
    let text = match (&first.name, &last.name) {
        (RangeName::Iteration { number: from, .. }, RangeName::Iteration { number: to, .. }) => {
            format!("iterations {}–{}", units::count(*from), units::count(*to))
        }
        _ if run.iter().all(|range| range.name == first.name) => {
            let name = units::printable(&first.name.text(snapshot));
            format!("{name} ×{}", units::count(run.len() as u64))
        }
        _ => return,
    };
    let color = Color32::from(Palette::text_on(ground));
    let galley = painter.layout_no_wrap(text, axis_font(), color);
    if galley.size().x <= place.width() - 8.0 {
        let y = place.center().y - galley.size().y / 2.0;
        painter.galley(pos2(place.left() + 4.0, y), galley, color);
    }
}

/// Paint the name of a range on its ground.
fn lane_text(snapshot: &Snapshot, range: &NamedRange, place: Rect, ground: Rgb, painter: &egui::Painter) {
    let width = place.width() - 8.0;
    if width < MIN_TEXT_PX {
        return;
    }
    let color = Color32::from(Palette::text_on(ground));
    let text = units::printable(&range.name.text(snapshot));
    let whole = painter.layout_no_wrap(text.clone(), axis_font(), color);
    let galley = match range.name {
        // Where the word does not fit, the number alone still says which iteration it is.
        RangeName::Iteration { number, .. } if width < whole.size().x.min(MIN_ITERATION_PX) => {
            painter.layout_no_wrap(units::count(number), axis_font(), color)
        }
        _ if whole.size().x <= width => whole,
        RangeName::Iteration { .. } | RangeName::Phase(_) | RangeName::Recorded(_) => {
            let mut job = LayoutJob::simple_singleline(text, axis_font(), color);
            job.wrap = TextWrapping::truncate_at_width(width);
            painter.layout_job(job)
        }
    };
    if width < galley.size().x {
        return;
    }
    let y = place.center().y - galley.size().y / 2.0;
    painter.galley(pos2(place.left() + 4.0, y), galley, color);
}
