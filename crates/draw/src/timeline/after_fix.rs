//! How much the program would take with a change, over what it was recorded to take and what is projected behind that.

use super::canvas::TimelineCanvas;
use super::envelope;
use super::marks::{MarkLabels, TEXT_PX};
use crate::Axis;
use egui::{Color32, Pos2, Rect, Shape, Stroke, pos2};
use oomscope_model::{Bytes, Timeline};
use oomscope_units as units;

/// The width of what is projected, as a share of what was recorded: it has no events whose number would mean something.
const WIDTH: f64 = 0.2;

/// Width of the line and of each of its edges, in points.
const LINE_PX: f32 = 1.5;
const EDGE_PX: f32 = 1.0;

/// What is counted of a changed program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TakenAs {
    /// What it requests.
    #[default]
    Requested,
    /// What the allocator reserves for it: of settings, which change no request.
    Reserved,
}

/// How much a program would take with a change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AfterFix {
    /// The most bytes in each of some stretches of the program that are equally long, up to where it fails.
    pub bytes: Vec<Bytes>,
    /// What they are of.
    pub taken_as: TakenAs,
    /// How many of the first of all stretches are of what was recorded; the others are projected.
    pub recorded: usize,
    /// How many stretches there are.
    pub all: usize,
    /// Whether it is of what the user tries, not of a fix.
    pub is_own: bool,
}

impl AfterFix {
    /// Of bytes in stretches.
    pub fn of(bytes: &[u64], taken_as: TakenAs, recorded: usize, all: usize) -> Self {
        debug_assert!(bytes.len() <= all && recorded <= all, "{} of {all}", bytes.len());
        let bytes = bytes.iter().map(|&bytes| Bytes::of_size(bytes)).collect();
        Self { bytes, taken_as, recorded, all, is_own: false }
    }

    /// The most of all bytes.
    pub fn peak_bytes(&self) -> Bytes {
        self.bytes.iter().copied().max().unwrap_or_default()
    }
}

/// The positions on the axis of events that what is projected takes behind a recording.
pub(super) fn positions(timeline: &Timeline) -> [f64; 2] {
    let recorded = timeline.moments() as f64;
    [recorded, recorded * (1.0 + WIDTH)]
}

impl TimelineCanvas<'_> {
    /// Paint it as a line with a dark and a light edge, which no total has, and say how high it comes.
    pub fn after_fix(&self, after: &AfterFix, labels: &mut MarkLabels) {
        let points = self.after_fix_points(after);
        if points.len() < 2 {
            return;
        }
        let painter = self.inside();
        let [edge, line] = [self.palette.window, self.palette.outline].map(Color32::from);
        painter.add(Shape::line(points.clone(), Stroke::new(LINE_PX + 2.0 * EDGE_PX, edge)));
        painter.add(Shape::line(points.clone(), Stroke::new(LINE_PX, line)));
        if let Some((highest, is_peak)) = highest_within(&points, self.rect) {
            let what = match after.taken_as {
                TakenAs::Requested => "requested",
                TakenAs::Reserved => "reserved",
            };
            let of = if after.is_own { "as tried" } else { "with the fix" };
            let peak = is_peak.then(|| format!(", {} {what}", units::bytes(after.peak_bytes())));
            let text = format!("{of}{}", peak.unwrap_or_default());
            let color = Color32::from(self.palette.text);
            let beside = [0.0, 20.0, -20.0, 40.0].map(|by| pos2(highest.x, highest.y + by));
            beside.into_iter().any(|at| self.label_at(at, (&text, TEXT_PX), color, labels));
        }
    }

    /// The corners of the line: of stretches that are thinner than a point, the highest of each point.
    fn after_fix_points(&self, after: &AfterFix) -> Vec<Pos2> {
        let moments = self.timeline.moments() as f64;
        let [start, end] = positions(self.timeline);
        let recorded = after.recorded.min(after.all);
        let projected = after.all - recorded;
        let x = |at: usize| {
            if at <= recorded {
                return self.x(moments * at as f64 / recorded.max(1) as f64);
            }
            self.x_at(start + (end - start) * (at - recorded) as f64 / projected.max(1) as f64)
        };
        // What is projected has no time.
        let known = after.bytes.len();
        let shown = if self.view.axis == Axis::Time { recorded.min(known) } else { known };
        let mut steps: Vec<(f32, Bytes)> = Vec::new();
        for (at, &bytes) in after.bytes.iter().take(shown).enumerate() {
            let left = x(at).round();
            match steps.last_mut() {
                Some((known, highest)) if *known == left => *highest = (*highest).max(bytes),
                _ => steps.push((left, bytes)),
            }
        }
        let right = x(shown);
        let (lefts, mut most): (Vec<f32>, Vec<Bytes>) = steps.into_iter().unzip();
        // With a step for each point, a loop would make a comb.
        if lefts.first().is_some_and(|left| (right - left) < 2.0 * lefts.len() as f32) {
            most = envelope::closed_totals(&most);
        }
        let ends = lefts.iter().skip(1).copied().chain([right]);
        let steps = lefts.iter().zip(ends).zip(most);
        steps
            .flat_map(|((&left, right), bytes)| {
                let y = self.y(bytes.as_f64());
                [pos2(left, y), pos2(right, y)]
            })
            .collect()
    }
}

/// The highest corner of the line within a picture, and whether it is the highest of all: where a part of a recording is shown, that
/// may lie elsewhere.
fn highest_within(points: &[Pos2], rect: Rect) -> Option<(Pos2, bool)> {
    let within = points.iter().copied().filter(|at| rect.contains(*at));
    let highest = within.min_by(|a, b| a.y.total_cmp(&b.y))?;
    Some((highest, points.iter().all(|at| highest.y <= at.y)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Future, Palette, View};
    use egui::{Context, Painter, vec2};
    use oomscope_fixtures::timelines as fixture;

    #[test]
    fn a_part_without_the_peak_has_its_own_highest_corner() {
        let points = [[0.0, 90.0], [10.0, 40.0], [20.0, 70.0], [30.0, 5.0]].map(Pos2::from);
        let within = |right: f32| highest_within(&points, Rect::from_min_max(Pos2::ZERO, pos2(right, 100.0)));
        assert_eq!(within(100.0), Some((points[3], true)));
        assert_eq!(within(25.0), Some((points[1], false)));
        assert_eq!(highest_within(&points, Rect::from_min_max(pos2(50.0, 0.0), pos2(60.0, 9.0))), None);
    }

    #[test]
    fn the_line_spans_what_was_recorded_and_what_is_projected() {
        let timeline = fixture::timeline(&fixture::sawtooth(500));
        let requested: Vec<u64> = (0..4096).map(|at| if at == 3000 { 1 << 20 } else { 1 << 10 }).collect();
        let after = AfterFix::of(&requested, TakenAs::Requested, 3072, 4096);
        let future = Future::of(&[1; 1024]).with_fix(after);
        let view = future.behind(View::fit(&timeline), &timeline);
        let rect = Rect::from_min_size(Pos2::ZERO, vec2(600.0, 200.0));
        let painter = Painter::new(Context::default(), egui::LayerId::background(), rect);
        let canvas = TimelineCanvas {
            painter: &painter,
            rect,
            view: &view,
            timeline: &timeline,
            palette: &Palette::DARK,
        };
        let after = future.after_fix.as_ref().expect("a fix");
        let points = canvas.after_fix_points(after);
        assert!(points.len() <= 2 * 600 + 2, "a step for each point of the screen at most");
        assert!(points.is_sorted_by(|a, b| a.x <= b.x));
        assert_eq!((points[0].x, points[points.len() - 1].x.round()), (0.0, 600.0));
        let highest = points.iter().min_by(|a, b| a.y.total_cmp(&b.y)).expect("points");
        assert_eq!(highest.y, canvas.y(f64::from(1 << 20)), "thin stretches keep the highest");
        // The recorded part ends where what is projected begins.
        let [start, _] = positions(&timeline);
        let at = canvas.x(timeline.moments() as f64 * 3000.0 / 3072.0);
        assert!((highest.x - at).abs() < 1.5 && at < canvas.x_at(start));
        // What fails on the way has no more.
        let fails = AfterFix { bytes: after.bytes[..1536].to_vec(), ..after.clone() };
        let end = canvas.after_fix_points(&fails).last().map(|point| point.x);
        assert_eq!(end, Some(canvas.x(timeline.moments() as f64 * 0.5)));
        let by_time = View { axis: Axis::Time, ..view };
        let canvas = TimelineCanvas { view: &by_time, ..canvas };
        assert!(canvas.after_fix_points(after).iter().all(|point| point.x <= 600.0 * 11.0));
    }
}
