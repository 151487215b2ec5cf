//! The frames of a file that name operators, by stack.

use crate::attribution::knowledge::OperatorFrame;
use crate::{SiteFrame, by_function, printable};
use oomscope_model::{Snapshot, StackId, StrId};

/// What asked for memory, as far as the stacks of both sides tell it in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    /// An operator by its name in PyTorch; several where a line of the program calls several.
    Named(Vec<String>),
    /// A node of the autograd graph, such as `AddmmBackward0`.
    Node(String),
    /// A Python function of torch or of another package, with its file: `torch/nn/functional.py layer_norm`.
    Function(String),
    /// The backward pass of operators that are not told.
    Backward,
    /// Operators that the program's own code calls.
    Own,
    /// Code that `torch.compile` generated.
    Generated,
    /// No frame names it.
    Unknown,
}

/// What a frame says, with its file and its function. Lines of one function say the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Said {
    pub(super) kind: OperatorFrame,
    file: StrId,
    name: StrId,
}

/// What a stack says of the operator that asked for memory.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Saying {
    /// By frames of compiled code: the outermost operator within the innermost function of Python, which is the one that the
    /// function called, or the node of the backward pass.
    pub(super) compiled: Option<Said>,
    /// By frames of Python.
    pub(super) python: Option<Said>,
}

/// The stacks of one file.
pub(super) struct StackOperators<'a> {
    snapshot: &'a Snapshot,
    frames: Vec<OperatorFrame>,
}

impl<'a> StackOperators<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        let frames =
            by_function(snapshot, |frame| OperatorFrame::of(&text(snapshot, frame.file, frame.name)));
        Self { snapshot, frames }
    }

    /// Whether any frame names an operator.
    pub(super) fn has_operators(&self) -> bool {
        self.frames.contains(&OperatorFrame::Operator)
    }

    /// What a stack says.
    pub(super) fn saying(&self, stack: StackId) -> Saying {
        let mut operator = None;
        for &id in self.snapshot.stacks.frames(stack) {
            let (kind, frame) = (self.frames[id.index()], self.snapshot.frames.get(id));
            let said = Said { kind, file: frame.file, name: frame.name };
            match kind {
                OperatorFrame::Operator => operator = Some(said),
                OperatorFrame::Node => {
                    let engine = Said { kind: OperatorFrame::Engine, ..said };
                    return Saying { compiled: Some(said), python: Some(engine) };
                }
                OperatorFrame::Engine => return Saying { compiled: Some(said), python: Some(said) },
                OperatorFrame::Function | OperatorFrame::Own | OperatorFrame::Generated => {
                    return Saying { compiled: operator, python: Some(said) };
                }
                OperatorFrame::Nothing => {}
            }
        }
        Saying { compiled: operator, python: None }
    }

    /// The operator that a frame names.
    pub(super) fn operator(&self, said: Said) -> Operator {
        let name = || said.kind.name(&text(self.snapshot, said.file, said.name));
        match said.kind {
            OperatorFrame::Operator => Operator::Named(vec![name()]),
            OperatorFrame::Node => Operator::Node(name()),
            OperatorFrame::Function => Operator::Function(name()),
            OperatorFrame::Engine => Operator::Backward,
            OperatorFrame::Own => Operator::Own,
            OperatorFrame::Generated => Operator::Generated,
            OperatorFrame::Nothing => Operator::Unknown,
        }
    }

    /// The stacks of the file.
    pub(super) fn stacks(&self) -> impl Iterator<Item = StackId> + use<> {
        (0..self.snapshot.stacks.len() as u32).map(StackId)
    }
}

fn text(snapshot: &Snapshot, file: StrId, name: StrId) -> SiteFrame {
    let file = printable(snapshot, file);
    SiteFrame { is_own: snapshot.assumed.own_code.has(&file), file, line: 0, name: printable(snapshot, name) }
}
