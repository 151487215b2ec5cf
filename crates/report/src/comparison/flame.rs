//! Two moments as one flame graph: a stack is as wide as on the side that has more of it, and its colour is the change.

use super::ComparisonReport;
use crate::flame_svg::{label_for_lines, scale};
use inferno::flamegraph::color::{BackgroundColor, Color};
use inferno::flamegraph::{self, Direction, Options, TextTruncateDirection};
use oomscope_analysis::comparison::{StackPair, compare_stacks};
use oomscope_model::Bytes;
use oomscope_units as units;
use std::io::{self, Write};

/// Frames narrower than this part of the picture, in percent, are left out: about a quarter of a pixel of 1,200.
const SMALLEST_PERCENT: f64 = 0.02;

/// Write the picture: red where B has more, blue where it has less. The same content always gives the same bytes.
///
/// # Errors
/// When writing fails.
pub fn comparison_svg(out: &mut dyn Write, report: &ComparisonReport<'_>) -> io::Result<()> {
    let stacks: Vec<StackPair> = compare_stacks(report.sides[0], report.sides[1]).pairs().collect();
    let whole = stacks.iter().fold(0i128, |sum, stack| sum.saturating_add(larger(stack)));
    let (divisor, unit) = scale(oomscope_analysis::WeightUnit::Bytes, whole);
    let mut lines: Vec<String> = stacks.iter().filter_map(|stack| line(stack, divisor)).collect();
    if lines.is_empty() {
        lines.push("nothing is live 1 1".to_owned());
    }
    let mut options = Options::default();
    // Texts are in the middle and not wrapped, so they must fit.
    let [a, b] = report.comparison.total().sides.map(|side| units::bytes(Bytes::clamped(side.amount.bytes)));
    options.title = format!("Change by stack: A {a}, B {b}");
    options.subtitle = Some("width: the larger of both; red: more in B, blue: less".to_owned());
    unit.clone_into(&mut options.count_name);
    "Frame:".clone_into(&mut options.name_type);
    options.direction = Direction::Inverted;
    options.text_truncate_direction = TextTruncateDirection::Right;
    options.min_width = SMALLEST_PERCENT;
    options.bgcolors = Some(BackgroundColor::Flat(Color { r: 255, g: 255, b: 255 }));
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), out)
}

fn larger(stack: &StackPair) -> i128 {
    stack.bytes[0].max(stack.bytes[1]).max(0)
}

/// The stack with two numbers: its width is the second, its change the second less the first.
fn line(stack: &StackPair, divisor: i128) -> Option<String> {
    let [a, b] = stack.bytes.map(|bytes| bytes.max(0) / divisor);
    let width = a.max(b);
    let before = width.saturating_sub(b.saturating_sub(a));
    let frames: Vec<String> = stack.frames.iter().map(|frame| label_for_lines(frame)).collect();
    (0 < width).then(|| format!("{} {before} {width}", frames.join(";")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_as_wide_as_on_its_larger_side() {
        let line_of =
            |bytes| line(&StackPair { frames: vec!["a.py:1 f".to_owned(), "g".to_owned()], bytes }, 1);
        assert_eq!(line_of([10, 40]).as_deref(), Some("a.py:1 f;g 10 40"));
        assert_eq!(line_of([40, 10]).as_deref(), Some("a.py:1 f;g 70 40"));
        assert_eq!(line_of([0, 0]), None);
    }
}
