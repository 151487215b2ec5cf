//! Texts about failed requests and frames, put together once and then only shown.

use oomscope_analysis::{
    SiteFrame, frame_line, is_internal, printable, printable_lines, site_frame, site_label,
};
use oomscope_model::{FrameId, FxInfo, OomEvent, Recording, Snapshot, StackId};
use oomscope_units as units;
use tr::tr;

/// Characters of a line of code that are shown: hostile lines do not fill the pane.
const MAX_CODE_CHARS: usize = 200;

/// A request that failed, as text.
pub(crate) struct OomFacts {
    /// `1004 MiB`.
    pub(crate) size: String,
    /// The line of code that made it.
    pub(crate) site: String,
    /// The stack, innermost first.
    pub(crate) frames: Vec<FrameText>,
}

impl OomFacts {
    pub(crate) fn new(recording: &Recording, oom: &OomEvent) -> Self {
        let (snapshot, stack) = (recording.snapshot(), recording.events.stack(oom.event));
        Self {
            size: units::bytes(oom.requested),
            site: site_label(snapshot, stack),
            frames: frames(snapshot, stack),
        }
    }
}

/// The frames of a stack.
pub(crate) fn frames(snapshot: &Snapshot, stack: StackId) -> Vec<FrameText> {
    let text = |(id, recorded): (FrameId, Option<FrameId>)| {
        let frame = site_frame(snapshot, id);
        let (is_internal, code) = (is_internal(&frame), code(snapshot, id));
        let compiled = recorded.map_or_else(|| fx_lines(snapshot, id), |id| compiled_line(snapshot, id));
        FrameText { frame, is_internal, code, compiled }
    };
    snapshot.frames_with_recorded(stack).into_iter().map(text).collect()
}

/// The line of code of a frame, where the recording came with its files.
pub(crate) fn code(snapshot: &Snapshot, id: FrameId) -> Option<String> {
    let line = snapshot.sources.line(&snapshot.strings, snapshot.frames.get(id))?;
    let line: String = units::printable(&line).chars().take(MAX_CODE_CHARS).collect();
    (!line.is_empty()).then_some(line)
}

/// The node of compiled code: `FX call_function relu_1 torch.relu`.
fn fx_node(snapshot: &Snapshot, fx: FxInfo) -> Option<String> {
    let node: Vec<String> =
        [fx.op, fx.name, fx.target].into_iter().flatten().map(|id| printable(snapshot, id)).collect();
    (!node.is_empty()).then(|| format!("FX {}", node.join(" ")))
}

/// What ran in place of the program's own line.
fn compiled_line(snapshot: &Snapshot, recorded: FrameId) -> Vec<String> {
    let Some(fx) = snapshot.frames.fx(snapshot.frames.get(recorded)) else { return Vec::new() };
    let generated = frame_line(&site_frame(snapshot, recorded));
    let ran = tr!("original line of compiled code, which ran as {generated}", generated);
    [ran].into_iter().chain(fx_node(snapshot, fx)).collect()
}

/// Lines that `torch.compile` recorded about generated code whose original lines are not shown.
fn fx_lines(snapshot: &Snapshot, id: FrameId) -> Vec<String> {
    let Some(fx) = snapshot.frames.fx(snapshot.frames.get(id)) else { return Vec::new() };
    let trace = fx.trace.map(|id| printable_lines(snapshot, id)).unwrap_or_default();
    let trace = trace.lines().map(str::to_owned).filter(|line| !line.trim().is_empty());
    fx_node(snapshot, fx).into_iter().chain(trace).collect()
}

/// One frame as text.
pub(crate) struct FrameText {
    pub(crate) frame: SiteFrame,
    /// It belongs to torch, the interpreter or a library.
    pub(crate) is_internal: bool,
    /// The line itself, where the recording came with its files.
    pub(crate) code: Option<String>,
    /// Lines about the compiled code that it is, or that it stands for.
    pub(crate) compiled: Vec<String>,
}
