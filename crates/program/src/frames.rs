//! What frames tell about calls of modules.

use super::operation_kind::OperationKind;
use super::run::Run;
use foldhash::HashMap;
use oomscope_analysis::{FrameCode, TorchOperation, is_python};
use oomscope_model::{Frame, FrameId, Snapshot, StackId, StrId};

/// A frame, as far as calls are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallFrame {
    /// A number for its file and function.
    pub function: u32,
    pub kind: FrameKind,
    /// What it computes.
    pub operation: TorchOperation,
}

/// The part that a frame plays in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// Compiled code, which is left out.
    Compiled,
    /// The code of `torch.nn.Module` that calls a module's `forward`.
    Call,
    /// The `forward` of a container, which only calls its modules.
    Container,
    /// Some other function that is called `forward`.
    Forward,
    /// Anything else.
    Plain,
}

/// All frames of a file.
#[derive(Debug)]
pub struct CallFrames(Vec<CallFrame>);

impl CallFrames {
    /// Look at the frames of a file.
    pub(super) fn of(run: &Run<'_>) -> Self {
        let mut functions: HashMap<(StrId, StrId), u32> = HashMap::default();
        let mut found =
            run.per_frame(|code| CallFrame { function: 0, kind: kind(code), operation: code.operation() });
        for (id, frame) in (0..).map(FrameId).zip(&mut found) {
            let Frame { file, name, .. } = run.recording.snapshot().frames.get(id);
            let next = functions.len() as u32;
            frame.function = *functions.entry((file, name)).or_insert(next);
        }
        Self(found)
    }

    /// What a frame tells.
    #[inline]
    pub fn get(&self, frame: FrameId) -> CallFrame {
        self.0.get(frame.index()).copied().unwrap_or(CallFrame {
            function: 0,
            kind: FrameKind::Compiled,
            operation: TorchOperation::None,
        })
    }

    /// Whether the innermost Python frame of a stack is a module's product.
    pub fn is_product(&self, snapshot: &Snapshot, stack: StackId) -> bool {
        self.innermost(snapshot, stack).is_some_and(|frame| frame.operation == TorchOperation::Product)
    }

    /// What the operation at the innermost Python frame of a stack does, and the number of its function.
    pub fn operation(&self, snapshot: &Snapshot, stack: StackId) -> (OperationKind, u32) {
        let innermost = self.innermost(snapshot, stack);
        innermost.map_or((OperationKind::Own, u32::MAX), |frame| (frame.operation.into(), frame.function))
    }

    fn innermost(&self, snapshot: &Snapshot, stack: StackId) -> Option<CallFrame> {
        let mut frames = snapshot.stacks.frames(stack).iter().map(|&frame| self.get(frame));
        frames.find(|frame| frame.kind != FrameKind::Compiled)
    }

    /// The Python frames of a stack, outermost first.
    pub fn path<'a>(&'a self, snapshot: &'a Snapshot, stack: StackId) -> impl Iterator<Item = FrameId> + 'a {
        let frames = snapshot.stacks.frames(stack).iter().rev().copied();
        frames.filter(|&frame| self.get(frame).kind != FrameKind::Compiled)
    }
}

fn kind(code: FrameCode<'_>) -> FrameKind {
    if !is_python(code.file) {
        FrameKind::Compiled
    } else if code.is_module_class() {
        FrameKind::Call
    } else if code.is_container() {
        FrameKind::Container
    } else if code.plain_function() == "forward" {
        FrameKind::Forward
    } else {
        FrameKind::Plain
    }
}
