//! The path of modules that a stack shows, outermost first.

use super::real::{ForwardIx, ModuleIx, RealModules};
use crate::attribution::knowledge::{Role, frame_role, is_of_compiler};
use crate::by_function;
use oomscope_model::{CensusIx, Frame, FrameId, Snapshot, StackId, StrId};

/// One module of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Step {
    /// Whether it is called, or made.
    pub(super) kind: StepKind,
    /// The file of its `forward` or `__init__`.
    pub(super) file: StrId,
    /// That function, with its class if that was recorded.
    pub(super) function: StrId,
    /// The line that calls it: file and number. `None` if no frame is around it.
    pub(super) from: Option<(StrId, i64)>,
    /// How it calls other modules.
    pub(super) flow: Flow,
    /// Whether the line that calls it is that of checkpointing.
    pub(super) is_recomputed: bool,
    /// Its `forward`, where the program said where that is.
    pub(super) forward: Option<ForwardIx>,
    /// The class that has this `forward`, where that is only one.
    pub(super) class: Option<CensusIx>,
}

impl Step {
    /// A module that metadata names.
    pub(super) fn named(text: StrId) -> Self {
        let (kind, flow) = (StepKind::Named, Flow::Any);
        Self {
            kind,
            file: text,
            function: text,
            from: None,
            flow,
            is_recomputed: false,
            forward: None,
            class: None,
        }
    }

    /// A module of the program.
    pub(super) fn real(module: ModuleIx) -> Self {
        Self { kind: StepKind::Real(module), ..Self::named(StrId(0)) }
    }
}

/// How a module calls others, as far as its file says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Flow {
    /// One after the other in a loop, as `nn.Sequential` does.
    Loops,
    /// Another one once, as `DistributedDataParallel` does.
    Wraps,
    /// As checkpointing does: one part of the forward after the other is computed again.
    Recomputes,
    /// The file does not say.
    Any,
}

/// The function of a module that a stack shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum StepKind {
    /// Its `forward`, called by `Module.__call__`.
    Call,
    /// Its constructor.
    Make,
    /// None: metadata names it.
    Named,
    /// None: the program has it.
    Real(ModuleIx),
}

/// The part of a program that a stack lies in, with its modules: steps as they are read, and then nodes of the tree.
#[derive(Debug, Clone)]
pub(super) enum Place<M> {
    /// In modules that are called.
    Called(Vec<M>),
    /// In constructors.
    Made(Vec<M>),
    /// In Python code outside of any module and of the backward.
    Outside,
    /// The stack does not say.
    NotKnown,
}

/// The meaning of a frame on the way to a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FrameKind {
    /// `Module.__call__`.
    Call,
    /// A `forward`.
    Forward,
    /// Other code of the program.
    Callee,
    /// A constructor.
    Init,
    /// Moves, copies or loads tensors that somebody else made.
    Moves,
    /// Starts or runs the backward.
    Backward,
    /// Other Python code, such as wrappers around a `forward`.
    Python,
    /// Compiled code.
    Compiled,
}

/// Reads stacks; each function is understood once.
pub(super) struct PathReader<'a> {
    snapshot: &'a Snapshot,
    /// By frame.
    known: Vec<(FrameKind, Flow)>,
    modules: &'a RealModules<'a>,
}

impl<'a> PathReader<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, modules: &'a RealModules<'a>) -> Self {
        let understand = |Frame { file, name, .. }: Frame| {
            let file = snapshot.strings.path(file).replace('\\', "/");
            (kind_of(&file, &snapshot.strings.name(name)), flow_of(&file))
        };
        Self { snapshot, known: by_function(snapshot, understand), modules }
    }

    /// The path that a stack shows.
    pub(super) fn read(&self, stack: StackId) -> Place<Step> {
        let frames = self.snapshot.stacks.frames(stack).iter().rev();
        let frames: Vec<(FrameId, FrameKind)> = frames.map(|&id| (id, self.known[id.index()].0)).collect();
        let called = self.called(&frames, self.snapshot.shows_originals(stack));
        if !called.is_empty() {
            return Place::Called(called);
        }
        let is_seen = |kind: FrameKind| frames.iter().any(|&(_, found)| found == kind);
        let made = self.made(&frames);
        if !made.is_empty() {
            Place::Made(made)
        } else if [FrameKind::Forward, FrameKind::Callee].into_iter().any(is_seen)
            && !is_seen(FrameKind::Backward)
        {
            Place::Outside
        } else {
            Place::NotKnown
        }
    }

    /// The modules that are called: after `Module.__call__`, the first frame that is no wrapper is the module's `forward`. Of
    /// compiled code torch records the lines without `Module.__call__`: there each `forward` below it is a module's.
    fn called(&self, frames: &[(FrameId, FrameKind)], is_compiled: bool) -> Vec<Step> {
        let mut steps = Vec::new();
        let (mut from, mut is_called) = (None, false);
        for &(id, kind) in frames {
            match kind {
                FrameKind::Call => is_called = true,
                FrameKind::Forward | FrameKind::Callee | FrameKind::Init
                    if is_called || (is_compiled && kind == FrameKind::Forward && !steps.is_empty()) =>
                {
                    steps.push(self.step(StepKind::Call, id, from));
                    (from, is_called) = (Some(id), false);
                }
                FrameKind::Forward | FrameKind::Callee | FrameKind::Init => {
                    self.unwrap(steps.last_mut(), id);
                    from = Some(id);
                }
                FrameKind::Compiled => {}
                // A wrapper, or a library's way to a module, stands in for nothing.
                _ if is_called => {}
                _ => _ = from.get_or_insert(id),
            }
        }
        steps
    }

    /// Takes a `forward` that the program has for that of the module around it, where that is none: a library may have put its own in
    /// its place, as accelerate does.
    fn unwrap(&self, around: Option<&mut Step>, id: FrameId) {
        if let Some(around) = around.filter(|step| step.forward.is_none()) {
            let inner = self.step(StepKind::Call, id, None);
            if inner.forward.is_some() {
                *around = Step { from: around.from, is_recomputed: around.is_recomputed, ..inner };
            }
        }
    }

    /// The constructors that a parameter is made in; none if it was moved, copied or loaded within the last of them.
    fn made(&self, frames: &[(FrameId, FrameKind)]) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut from = None;
        for &(id, kind) in frames {
            match kind {
                FrameKind::Init => {
                    steps.push(self.step(StepKind::Make, id, from));
                    from = Some(id);
                }
                FrameKind::Forward | FrameKind::Callee => from = Some(id),
                FrameKind::Moves | FrameKind::Backward => return Vec::new(),
                FrameKind::Call | FrameKind::Python => _ = from.get_or_insert(id),
                FrameKind::Compiled => {}
            }
        }
        steps
    }

    fn step(&self, kind: StepKind, callee: FrameId, from: Option<FrameId>) -> Step {
        let frame = self.snapshot.frames.get(callee);
        let Frame { file, name, .. } = frame;
        let is_forward = kind == StepKind::Call && self.known[callee.index()].0 == FrameKind::Forward;
        let found = if is_forward { self.modules.forward_at(frame) } else { None };
        let (forward, class) = (found.map(|(forward, _)| forward), found.and_then(|(_, class)| class));
        let is_recomputed = from.is_some_and(|id| self.flow(id) == Flow::Recomputes);
        let from = from.map(|id| self.snapshot.frames.get(id)).map(|frame| (frame.file, frame.line));
        Step { kind, file, function: name, from, flow: self.flow(callee), is_recomputed, forward, class }
    }

    /// How a module calls others, by a frame of it.
    fn flow(&self, id: FrameId) -> Flow {
        self.known[id.index()].1
    }
}

fn flow_of(file: &str) -> Flow {
    const WRAPPERS: [&str; 5] = [
        "/torch/nn/parallel/",
        "/torch/distributed/",
        "/torch/_dynamo/",
        "/accelerate/",
        "/lightning/fabric/",
    ];
    if file.ends_with("/torch/nn/modules/container.py") {
        Flow::Loops
    } else if file.ends_with("/torch/utils/checkpoint.py") {
        Flow::Recomputes
    } else if WRAPPERS.iter().any(|wrapper| file.contains(wrapper)) {
        Flow::Wraps
    } else {
        Flow::Any
    }
}

fn kind_of(file: &str, name: &str) -> FrameKind {
    let plain = name.rsplit('.').next().unwrap_or(name);
    match frame_role(file, name) {
        Role::Call => FrameKind::Call,
        Role::Backward | Role::Engine => FrameKind::Backward,
        Role::Compiled | Role::Workspace | Role::Start => FrameKind::Compiled,
        Role::CopyDict | Role::CopyObject | Role::CopyTensor | Role::Restore => FrameKind::Moves,
        Role::Load if file.ends_with("modules/module.py") => FrameKind::Moves,
        Role::Checkpoint => FrameKind::Python,
        _ if is_of_compiler(file) => FrameKind::Python,
        _ if plain == "__init__" => FrameKind::Init,
        _ if plain == "forward" => FrameKind::Forward,
        Role::Own | Role::Cache | Role::Root => FrameKind::Callee,
        _ => FrameKind::Python,
    }
}
