//! The program's own lines, from the texts that torch records of them: the trace of generated code
//! (`fx_original_trace`), and forward traces (`forward_frames`).

use super::traceback::{TracebackLine, traceback_lines};
use foldhash::HashMap;
use oomscope_model::{Frame, FrameId, FrameTable, OriginalLines, Originals, StackTable, StrId, StringTable};
use std::sync::Arc;

/// Show the program's own lines in `stacks`. Returns what was recorded, if a frame stands for any, and how many stacks have no
/// room for them.
pub(super) fn originals(
    strings: &mut StringTable,
    frames: &mut FrameTable,
    stacks: &mut StackTable,
) -> Option<(Originals, u64)> {
    // Many frames may share a text, which is read once.
    let mut known: HashMap<StrId, Arc<[FrameId]>> = HashMap::default();
    let mut lines = HashMap::default();
    for (frame, text, is_text) in texts(strings, frames) {
        let found = known.entry(text).or_insert_with(|| lines_of(text, strings, frames));
        if !found.is_empty() {
            let target = frames.fx(frames.get(frame)).and_then(|fx| fx.target);
            lines.insert(frame, OriginalLines { frames: Arc::clone(found), is_text, target });
        }
    }
    (!lines.is_empty()).then(|| Originals::put_into(stacks, lines))
}

/// The frames that have a text about lines, or are one.
fn texts(strings: &StringTable, frames: &FrameTable) -> Vec<(FrameId, StrId, bool)> {
    let text = |(at, &frame): (usize, &Frame)| {
        let id = FrameId(at as u32);
        let trace = frames.fx(frame).and_then(|fx| fx.trace).map(|trace| (id, trace, false));
        let is_text = frame.line == 0 && strings.is(frame.file, b"");
        trace.or_else(|| is_text.then_some((id, frame.name, true)))
    };
    frames.all().iter().enumerate().filter_map(text).collect()
}

/// The frames that a text names, innermost first.
fn lines_of(text: StrId, strings: &mut StringTable, frames: &mut FrameTable) -> Arc<[FrameId]> {
    let text = strings.whole_bytes(text).to_vec();
    let frame = |line: TracebackLine<'_>| {
        let (file, name) = (strings.intern(line.file).0, strings.intern(line.function).0);
        frames.intern(Frame { file, line: line.line, name, fx: None }, None)
    };
    let mut found: Vec<FrameId> = traceback_lines(&text).map(frame).collect();
    found.reverse();
    found.into()
}
