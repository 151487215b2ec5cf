//! Texts about failed requests and frames, put together once and then only shown.

use crate::analysis::printable_lines;
use crate::analysis::{SiteFrame, is_internal, site_frame, site_label};
use crate::model::{FrameId, OomEvent, Recording, Snapshot, StackId, StrId};
use crate::units;

/// Characters of a line of code that are shown: hostile lines do not fill the pane.
const MAX_CODE_CHARS: usize = 200;

/// A request that failed, as text.
pub(in crate::app) struct OomFacts {
    /// `1004 MiB`.
    pub(in crate::app) size: String,
    /// The line of code that made it.
    pub(in crate::app) site: String,
    /// The stack, innermost first.
    pub(in crate::app) frames: Vec<FrameText>,
}

impl OomFacts {
    pub(in crate::app) fn new(recording: &Recording, oom: &OomEvent) -> Self {
        let (snapshot, stack) = (recording.snapshot(), recording.events.stack(oom.event));
        Self {
            size: units::bytes(oom.requested),
            site: site_label(snapshot, stack),
            frames: frames(snapshot, stack),
        }
    }
}

/// The frames of a stack.
pub(in crate::app) fn frames(snapshot: &Snapshot, stack: StackId) -> Vec<FrameText> {
    let text = |&id| {
        let frame = site_frame(snapshot, id);
        let (is_internal, code) = (is_internal(&frame), code(snapshot, id));
        FrameText { frame, is_internal, code, fx: fx_lines(snapshot, id) }
    };
    snapshot.stacks.frames(stack).iter().map(text).collect()
}

/// The line of code of a frame, where the recording came with its files.
pub(in crate::app) fn code(snapshot: &Snapshot, id: FrameId) -> Option<String> {
    let line = snapshot.sources.line(&snapshot.strings, snapshot.frames.get(id))?;
    let line: String = units::printable(&line).chars().take(MAX_CODE_CHARS).collect();
    (!line.is_empty()).then_some(line)
}

/// Lines that `torch.compile` recorded about generated code: the node, and the model's own code.
fn fx_lines(snapshot: &Snapshot, id: FrameId) -> Vec<String> {
    let Some(fx) = snapshot.frames.fx(snapshot.frames.get(id)) else { return Vec::new() };
    let text = |id: StrId| printable_lines(snapshot, id);
    let node: Vec<String> = [fx.op, fx.name, fx.target].into_iter().flatten().map(text).collect();
    let node = (!node.is_empty()).then(|| format!("FX {}", node.join(" ")));
    let trace = fx.trace.map(text).unwrap_or_default();
    node.into_iter().chain(trace.lines().map(str::to_owned).filter(|line| !line.trim().is_empty())).collect()
}

/// One frame as text.
pub(in crate::app) struct FrameText {
    pub(in crate::app) frame: SiteFrame,
    /// It belongs to torch, the interpreter or a library.
    pub(in crate::app) is_internal: bool,
    /// The line itself, where the recording came with its files.
    pub(in crate::app) code: Option<String>,
    /// Lines that `torch.compile` recorded about it.
    pub(in crate::app) fx: Vec<String>,
}
