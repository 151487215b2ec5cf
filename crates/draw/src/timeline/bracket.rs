//! The mark of memory that a finding is about: its blocks, the steps in which it came, and how much of a moment's memory it is.

use super::marks::{FINDING_TEXT_PX, LABEL_PX, MarkLabels, TEXT_PX};
use super::stacked::{Pixel, Raster};
use super::{PixelSpan, TimelineCanvas, TimelineRaster};
use egui::{Color32, Rangef, Rect, Shape, Stroke, pos2};
use oomscope_analysis::filter::Matches;
use oomscope_model::{Moment, Timeline};

/// Width of the ends of the bracket, in points.
const END_PX: f32 = 6.0;

/// Distance of the bracket from its moment, in points.
const GAP_PX: f32 = 4.0;

/// Ranges that are nearer than this, in points, have one bracket.
const TOUCHING_PX: f32 = 3.0;

/// Memory that a picture marks, while the rest fades.
#[derive(Debug, Clone, Copy)]
pub struct Mark<'a> {
    /// The allocations.
    pub allocations: &'a Matches,
    /// What they are, in a few words.
    pub label: &'a str,
    /// The moment that they are about.
    pub moment: Moment,
    /// The parts of them that came one after another, in that order.
    pub steps: &'a [MarkStep],
}

/// A part of marked memory: what was allocated from a moment on, until the next part begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkStep {
    /// The moment.
    pub start: Moment,
    /// How much it is, and where it came from.
    pub label: String,
}

/// A place of marked memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkedSpan {
    /// The place in the picture.
    pub span: PixelSpan,
    /// The step that it is of, by its index.
    pub step: Option<usize>,
}

impl Mark<'_> {
    /// The places of the memory in a picture. Where that fades the rest, what does not fade of blocks that are too thin to be seen
    /// is of it.
    pub fn spans(&self, raster: &Raster, timeline: &Timeline, fades_rest: bool) -> Vec<MarkedSpan> {
        let step = |start: Moment| {
            let next = self.steps.partition_point(|step| step.start <= start);
            next.checked_sub(1)
        };
        let kind = |pixel| match pixel {
            Pixel::Block(id) => self.allocations.contains(id).then(|| step(timeline.lifetimes.start(id))),
            Pixel::Share(share) => (fades_rest && !share.is_faded).then_some(None),
            Pixel::Empty => None,
        };
        raster.spans_by(kind).into_iter().map(|(step, span)| MarkedSpan { span, step }).collect()
    }
}

/// Ranges of the screen, those that touch as one.
fn apart(mut ranges: Vec<Rangef>) -> Vec<Rangef> {
    ranges.sort_by(|a, b| a.min.total_cmp(&b.min));
    let mut apart: Vec<Rangef> = Vec::new();
    for range in ranges {
        match apart.last_mut().filter(|last| range.min <= last.max + TOUCHING_PX) {
            Some(last) => last.max = last.max.max(range.max),
            None => apart.push(range),
        }
    }
    apart
}

impl TimelineCanvas<'_> {
    /// Paint the places of marked memory in a picture: every other step lighter, with labels where there is room, and a bracket
    /// beside the moment that the memory is about.
    pub fn marked(
        &self,
        picture: &TimelineRaster,
        mark: &Mark<'_>,
        spans: &[MarkedSpan],
        labels: &mut MarkLabels,
    ) {
        if picture.view.axis != self.view.axis {
            return;
        }
        let is_lighter = |step: Option<usize>| step.is_none_or(|step| !step.is_multiple_of(2));
        let lighter: Vec<PixelSpan> =
            spans.iter().filter(|marked| is_lighter(marked.step)).map(|marked| marked.span).collect();
        self.lighten(picture, &lighter);
        let all: Vec<PixelSpan> = spans.iter().map(|marked| marked.span).collect();
        self.edges(picture, &all);
        if 1 < mark.steps.len() {
            self.step_labels(picture, mark.steps, spans, labels);
        }
        self.brackets(picture, &all, mark, labels);
    }

    /// Brackets beside a moment around what spans have of it, with a label at the largest. What is marked and is not to be seen
    /// there, as a request that failed, has the label alone, above what is in use.
    fn brackets(
        &self,
        picture: &TimelineRaster,
        spans: &[PixelSpan],
        mark: &Mark<'_>,
        labels: &mut MarkLabels,
    ) {
        let x = self.x_middle(mark.moment).round();
        let at_moment = spans.iter().map(|span| self.place(picture, span));
        // A span has the width of a column, in which the moment may not be the one that is drawn.
        let near = at_moment.filter(|place| place.x_range().expand(END_PX).contains(x));
        let parts = apart(near.map(|place| place.y_range()).collect());
        // At the right edge, where failures are, there is room at the left only.
        let side = if x + GAP_PX + END_PX < self.rect.right() { 1.0 } else { -1.0 };
        let (line, end) = (x + side * (GAP_PX + END_PX), x + side * GAP_PX);
        let color = Color32::from(self.palette.accent);
        for range in &parts {
            let points = [(end, range.min), (line, range.min), (line, range.max), (end, range.max)];
            let points = points.map(|(x, y)| pos2(x, y.clamp(self.rect.top(), self.rect.bottom())));
            self.inside().add(Shape::line(points.to_vec(), Stroke::new(2.0, color)));
        }
        let largest = parts.into_iter().max_by(|a, b| a.span().total_cmp(&b.span()));
        let in_use = || self.y(self.timeline.active.at(mark.moment).as_f64());
        // What is too thin to be seen there has its label all the same.
        let is_in_sight = self.rect.x_range().contains(x);
        let middle = largest.map(|range| range.center());
        let Some(middle) = middle.or_else(|| is_in_sight.then(in_use)) else { return };
        // Where the label of a step lies at the middle, the next rows are free.
        let beside = [0.0, -1.0, 1.0, -2.0, 2.0].map(|rows| pos2(line, middle + rows * LABEL_PX));
        let mut sizes = [FINDING_TEXT_PX, TEXT_PX].into_iter();
        sizes.any(|px| beside.iter().any(|at| self.label_at(*at, (mark.label, px), color, labels)));
    }

    /// The name of each step, in the largest of its places that has room.
    fn step_labels(
        &self,
        picture: &TimelineRaster,
        steps: &[MarkStep],
        spans: &[MarkedSpan],
        labels: &mut MarkLabels,
    ) {
        for (at, step) in steps.iter().enumerate() {
            let places = spans.iter().filter(|marked| marked.step == Some(at));
            let places = places.map(|marked| self.place(picture, &marked.span).intersect(self.rect));
            let mut places: Vec<Rect> = places.collect();
            places.sort_by(|a, b| b.area().total_cmp(&a.area()));
            self.label_inside(&places, &step.label, labels);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_apart_has_brackets_of_its_own() {
        let range = |min: f32, max: f32| Rangef::new(min, max);
        let parts = apart(vec![range(50.0, 60.0), range(0.0, 10.0), range(11.0, 20.0), range(5.0, 8.0)]);
        assert_eq!(parts, [range(0.0, 20.0), range(50.0, 60.0)]);
        assert!(apart(Vec::new()).is_empty());
    }
}
