//! Both curves on one axis, as shapes of a page.

use super::ComparisonReport;
use crate::diagnosis::Html;
use oomscope_analysis::comparison::{AlignBy, Aligned, AlignedColumn};
use oomscope_model::Bytes;
use oomscope_units as units;

/// Width and height of the drawing.
const SIZE: [f64; 2] = [880.0, 260.0];

/// Left and right edge of the plot, and its top and bottom.
const PLOT: [[f64; 2]; 2] = [[68.0, 872.0], [12.0, 236.0]];

/// Columns of the plot: about one for each pixel.
const COLUMNS: usize = 800;

/// How many lines with sizes the plot has above the axis.
const TICKS: i64 = 4;

/// Write the drawing and what its axis is. Nothing where a side has no events.
pub(super) fn curves(page: &mut Html, report: &ComparisonReport<'_>) {
    let Some((by, aligned)) = Aligned::best(report.sides) else { return };
    let columns = aligned.columns(COLUMNS);
    let peaks = columns.iter().flat_map(|column| column.peaks).flatten();
    let top = peaks.map(|(_, bytes)| bytes).max().unwrap_or_default().max(Bytes(1));
    page.markup("<section class=\"card info\">\n<h2>Both over time</h2>\n<figure>\n");
    let [width, height] = SIZE;
    page.computed(&format!(
        "<svg id=\"drawing\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\""
    ));
    page.text("Active bytes of both sides");
    page.markup("\">\n");
    axis(page, top);
    for (side, class) in [(0, "line-a"), (1, "line-b")] {
        page.computed(&format!("<path class=\"{class}\" d=\"{}\"/>\n", path(&columns, side, top)));
        let x = x_of(&aligned, side, report);
        let [from, to] = PLOT[1];
        page.computed(&format!("<path class=\"{class} at\" d=\"M{x:.1} {from}V{to}\"/>\n"));
    }
    page.markup("</svg>\n<figcaption><i class=\"key-a\"></i> A <i class=\"key-b\"></i> B · ");
    page.markup(match by {
        AlignBy::Iteration => "Iterations begin at the same places.",
        AlignBy::Event | AlignBy::Time | AlignBy::Ranges(_) => {
            "Events with the same number are at the same place."
        }
    });
    page.markup(
        " Each column shows the most that was active; the dashed lines are the moments.</figcaption>\n",
    );
    page.markup("</figure>\n</section>\n");
}

fn x_of(aligned: &Aligned<'_>, side: usize, report: &ComparisonReport<'_>) -> f64 {
    let [left, right] = PLOT[0];
    let [from, to] = aligned.span;
    let part = (aligned.place(side, report.sides[side].moment) - from) / (to - from).max(f64::MIN_POSITIVE);
    left + (right - left) * part.clamp(0.0, 1.0)
}

fn y_of(bytes: Bytes, top: Bytes) -> f64 {
    let [high, low] = PLOT[1];
    low - (low - high) * (bytes.as_f64() / top.as_f64()).clamp(0.0, 1.0)
}

fn axis(page: &mut Html, top: Bytes) {
    let [left, right] = PLOT[0];
    for tick in 0..=TICKS {
        let bytes = top / TICKS * tick;
        let y = y_of(bytes, top);
        page.computed(&format!("<path class=\"grid\" d=\"M{left} {y:.1}H{right}\"/>"));
        page.computed(&format!("<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">", left - 8.0, y + 4.0));
        page.text(&units::bytes(bytes));
        page.markup("</text>\n");
    }
}

/// The line of one side, in runs of the columns in which it has a moment.
fn path(columns: &[AlignedColumn], side: usize, top: Bytes) -> String {
    let [left, right] = PLOT[0];
    let width = (right - left) / columns.len().max(1) as f64;
    let (mut path, mut is_open) = (String::new(), false);
    for (at, column) in columns.iter().enumerate() {
        let Some((_, bytes)) = column.peaks[side] else {
            is_open = false;
            continue;
        };
        let (x, y) = (left + width * at as f64, y_of(bytes, top));
        let step = if is_open { format!("V{y:.1}") } else { format!("M{x:.1} {y:.1}") };
        path.extend([step, format!("H{:.1}", x + width)]);
        is_open = true;
    }
    path
}
