//! Folded stacks, as flamegraph.pl, inferno and speedscope read them: a line for each stack, outermost frame first, and its bytes.

use super::weights::{NO_STACK, weights};
use crate::interchange::progress::Progress;
use crate::interchange::selection::Selection;
use oomscope_analysis::stack_lines;
use oomscope_model::{Bytes, StackId};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Write a line for each stack. Several devices are the outermost frames.
pub(in crate::interchange) fn folded(
    selection: &Selection<'_>,
    out: &mut (dyn Write + Send),
    progress: &mut Progress<'_>,
) -> io::Result<()> {
    for portion in &selection.portions {
        let mut by_stack: BTreeMap<StackId, Bytes> = BTreeMap::new();
        for ((stack, _), weight) in weights(portion, progress) {
            let bytes = by_stack.entry(stack).or_default();
            *bytes += weight.bytes;
        }
        // Readers take no other weights.
        for (stack, bytes) in by_stack.into_iter().filter(|&(_, bytes)| 0 < bytes) {
            if 1 < selection.portions.len() {
                write!(out, "{};", portion.recording.device)?;
            }
            let frames: Vec<String> =
                stack_lines(selection.snapshot, stack).map(|line| safe(&line)).collect();
            let frames = frames.iter().rev().map(String::as_str).collect::<Vec<_>>();
            let text = if frames.is_empty() { NO_STACK.to_owned() } else { frames.join(";") };
            writeln!(out, "{text} {}", bytes.0)?;
        }
    }
    Ok(())
}

/// A frame without what separates frames and lines.
fn safe(frame: &str) -> String {
    frame.chars().map(|c| if c == ';' || oomscope_units::is_unprintable(c) { '_' } else { c }).collect()
}
