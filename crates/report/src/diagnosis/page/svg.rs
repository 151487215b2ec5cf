//! The figure over time as shapes: what a page shows without its script, and on paper.

use super::figure::{FigureColumn, MarkKind, MemoryFigure};
use super::markup::Html;
use super::steps::{PARTS, Steps};
use oomscope_analysis::Category;
use oomscope_model::Bytes;
use oomscope_units as units;

/// Width and height of the drawing. One unit is about a pixel beside the readout on a screen.
const SIZE: [f64; 2] = [880.0, 356.0];

/// Left and right edge of the plot: labels of bytes stand left of it.
pub(super) const PLOT_X: [f64; 2] = [68.0, 872.0];

/// Top and bottom edge of the plot: lanes and labels of marks stand above it, labels of events below.
const PLOT_Y: [f64; 2] = [66.0, 330.0];

/// Top of the lane of iterations and of that of phases.
const LANES_Y: [f64; 2] = [2.0, 20.0];

/// Height of a lane.
const LANE_HEIGHT: f64 = 16.0;

/// Width of a character of a label, rounded up.
const CHARACTER_WIDTH: f64 = 6.6;

/// Baselines of the labels of the peak and of failed requests, each with a row of its own, so that they never overlap.
const LABELS_Y: [f64; 2] = [48.0, 61.0];

/// A failed request is drawn at least this wide, so that its height can be seen.
const FAILED_WIDTH: f64 = 6.0;

impl MemoryFigure {
    /// The left edge of a column.
    fn x(&self, column: usize) -> f64 {
        let [left, right] = PLOT_X;
        left + (right - left) * column as f64 / self.columns.len().max(1) as f64
    }

    fn middle(&self, column: usize) -> f64 {
        f64::midpoint(self.x(column), self.x(column + 1))
    }

    fn x_of_moment(&self, moment: f64) -> f64 {
        let [left, right] = PLOT_X;
        left + (right - left) * (moment / self.moments.max(1) as f64).clamp(0.0, 1.0)
    }

    fn y(&self, bytes: Bytes) -> f64 {
        let [top, bottom] = PLOT_Y;
        bottom - (bottom - top) * (bytes.as_f64() / self.top_bytes.max(Bytes(1)).as_f64()).clamp(0.0, 1.0)
    }

    /// Write the drawing, with the cursor at the moment of the report.
    pub(super) fn svg(&self, page: &mut Html, description: &str) {
        let [width, height] = SIZE;
        page.computed(&format!(
            "<svg id=\"drawing\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\""
        ));
        page.text(description);
        page.markup("\">\n");
        self.axes(page);
        self.lanes(page);
        page.computed(&format!("<g transform=\"scale({})\">\n", 1.0 / PARTS));
        self.bands(page);
        self.lines(page);
        page.markup("</g>\n");
        self.marks(page);
        let column = self.marks.get(self.at).map_or(0, |mark| mark.column);
        let x = self.middle(column);
        let [top, bottom] = PLOT_Y;
        page.computed(&format!("<path id=\"cursor\" d=\"M{x:.1} {top}V{bottom}\"/>\n</svg>\n"));
    }

    fn axes(&self, page: &mut Html) {
        let ([left, right], [_, bottom]) = (PLOT_X, PLOT_Y);
        for (bytes, label) in &self.byte_ticks {
            let y = self.y(Bytes(*bytes as i64));
            page.computed(&format!("<path class=\"grid\" d=\"M{left} {y:.1}H{right}\"/>"));
            label_at(page, [left - 8.0, y + 4.0], "end", label);
        }
        for (moment, label) in &self.event_ticks {
            let x = self.x_of_moment(*moment);
            let anchor = if right - 30.0 < x { "end" } else { "middle" };
            label_at(page, [x, bottom + 16.0], anchor, label);
        }
        label_at(page, [left - 8.0, bottom + 16.0], "end", "event");
    }

    /// The stack of categories. Of each, what is seen lies below what is only inferred.
    fn bands(&self, page: &mut Html) {
        let mut below = vec![Bytes::ZERO; self.columns.len()];
        for category in self.categories() {
            for is_inferred in [false, true] {
                let path = self.band(category, is_inferred, &mut below);
                if !path.is_empty() {
                    let key = category.key();
                    let inferred = if is_inferred { " inferred" } else { "" };
                    page.computed(&format!("<path class=\"fill-{key}{inferred}\" d=\"{path}\"/>\n"));
                }
            }
        }
    }

    /// The outline of a band on top of others: a closed one for each run of columns in which it has bytes.
    fn band(&self, category: Category, is_inferred: bool, below: &mut [Bytes]) -> String {
        let mut path = Steps::default();
        // The way back along the bottom, from the right.
        let mut back: Vec<[f64; 2]> = Vec::new();
        for (i, (column, below)) in self.columns.iter().zip(below).enumerate() {
            let [bytes, inferred] = column.instant.bytes_of(category).map(|bytes| bytes.or_zero());
            let inferred = inferred.min(bytes);
            let size = if is_inferred { inferred } else { bytes - inferred };
            let low = self.y(*below);
            *below += size;
            if size == 0 {
                close(&mut path, &mut back);
                continue;
            }
            let (start, high) = (self.x(i), self.y(*below));
            if back.is_empty() {
                path.start([start, high]);
            }
            path.step(high, self.x(i + 1));
            back.push([low, start]);
        }
        close(&mut path, &mut back);
        path.finish()
    }

    /// Iterations, and below them their phases.
    fn lanes(&self, page: &mut Html) {
        let iteration = |column: &FigureColumn| column.instant.iteration;
        self.lane(page, LANES_Y[0], iteration, |column| iteration(column).map(|number| number.to_string()));
        let phase = |column: &FigureColumn| column.instant.phase;
        self.lane(
            page,
            LANES_Y[1],
            |column| (iteration(column), phase(column)),
            |column| phase(column).map(str::to_owned),
        );
    }

    /// A box for each run of columns with the same key, with a name where it has one.
    fn lane<K: PartialEq>(
        &self,
        page: &mut Html,
        top: f64,
        key: impl Fn(&FigureColumn) -> K,
        name: impl Fn(&FigureColumn) -> Option<String>,
    ) {
        let mut start = 0;
        for run in self.columns.chunk_by(|a, b| key(a) == key(b)) {
            let (left, right) = (self.x(start), self.x(start + run.len()));
            start += run.len();
            let Some(name) = run.first().and_then(&name) else { continue };
            page.computed(&format!(
                "<rect class=\"lane\" x=\"{left:.1}\" y=\"{top}\" width=\"{:.1}\" height=\"{LANE_HEIGHT}\"/>",
                right - left
            ));
            if name.len() as f64 * CHARACTER_WIDTH < right - left {
                label_at(page, [f64::midpoint(left, right), top + 12.0], "middle", &name);
            }
        }
        page.markup("\n");
    }

    fn lines(&self, page: &mut Html) {
        self.line(page, "reserved", |column| column.most_reserved);
        self.line(page, "allocated", |column| column.most_allocated);
        self.line(page, "active", |column| column.instant.active);
    }

    fn line(&self, page: &mut Html, name: &'static str, bytes: impl Fn(&FigureColumn) -> Bytes) {
        let mut path = Steps::default();
        for (i, column) in self.columns.iter().enumerate() {
            let y = self.y(bytes(column));
            if i == 0 {
                path.start([self.x(0), y]);
            }
            path.step(y, self.x(i + 1));
        }
        page.computed(&format!("<path class=\"line-{name}\" d=\"{}\"/>\n", path.finish()));
    }

    /// The capacity, the peak and the requests that failed, these to scale on top of what was active. Labels come last, above
    /// all lines.
    fn marks(&self, page: &mut Html) {
        let ([left, right], [top, bottom]) = (PLOT_X, PLOT_Y);
        for &(column, requested) in &self.failed {
            self.failed_request(page, column, requested);
        }
        let peak = self.marks.iter().find(|mark| mark.kind == MarkKind::Peak);
        let peak = peak.map(|mark| (self.middle(mark.column), units::bytes(mark.instant.active)));
        if let Some((x, _)) = &peak {
            page.computed(&format!("<path class=\"peak\" d=\"M{x:.1} {}V{bottom}\"/>", LABELS_Y[1] - 8.0));
        }
        let oom = self.failed.last().map(|&(column, bytes)| (self.middle(column), units::bytes(bytes)));
        if let Some((x, _)) = &oom {
            page.computed(&format!("<path class=\"oom\" d=\"M{x:.1} {}V{top}\"/>", LABELS_Y[0] - 8.0));
        }
        if let Some(bytes) = self.capacity_bytes.filter(|&bytes| bytes <= self.top_bytes) {
            let y = self.y(bytes);
            page.computed(&format!("<path class=\"capacity\" d=\"M{left} {y:.1}H{right}\"/>"));
            label_at(page, [left + 6.0, y + 13.0], "start", &format!("capacity {}", units::bytes(bytes)));
        }
        if let Some((x, bytes)) = oom {
            mark_label(page, [x, LABELS_Y[0]], &format!("out of memory: {bytes}"));
        }
        if let Some((x, bytes)) = peak {
            mark_label(page, [x, LABELS_Y[1]], &format!("peak {bytes}"));
        }
        page.markup("\n");
    }

    fn failed_request(&self, page: &mut Html, column: usize, requested: Bytes) {
        let active = self.columns.get(column).map_or(Bytes::ZERO, |column| column.instant.active);
        let (low, high) = (self.y(active), self.y(active + requested));
        let width = (self.x(1) - self.x(0)).max(FAILED_WIDTH);
        let (x, height) = (self.middle(column) - width / 2.0, low - high);
        page.computed(&format!(
            "<rect class=\"failed\" x=\"{x:.1}\" y=\"{high:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
        ));
    }
}

/// A label beside a line, on the side that has more room.
fn mark_label(page: &mut Html, [x, y]: [f64; 2], text: &str) {
    let [left, right] = PLOT_X;
    let is_right = f64::midpoint(left, right) < x;
    let (x, anchor) = if is_right { (x - 5.0, "end") } else { (x + 5.0, "start") };
    label_at(page, [x, y], anchor, text);
}

fn close(path: &mut Steps, back: &mut Vec<[f64; 2]>) {
    if !back.is_empty() {
        back.drain(..).rev().for_each(|[low, start]| path.step(low, start));
        path.close();
    }
}

fn label_at(page: &mut Html, [x, y]: [f64; 2], anchor: &'static str, text: &str) {
    page.computed(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">"));
    page.text(text);
    page.markup("</text>");
}
