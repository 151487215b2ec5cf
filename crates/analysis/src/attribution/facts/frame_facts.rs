//! The facts about every frame of a file: each frame is looked up once, however many stacks it is in.

use crate::attribution::knowledge::{NameHint, Optimizer, Role, frame_role, name_hint};
use crate::by_function;
use foldhash::HashSet;
use oomscope_model::{Frame, FrameId, Snapshot, StackId};

/// Mix two numbers that stand for code into one. Equal inputs give equal outputs; others rarely do.
pub(super) fn mix(a: u32, b: u32) -> u32 {
    (a.rotate_left(5) ^ b).wrapping_mul(0x9e37_79b1).rotate_left(13)
}

/// The facts about one frame, whatever its line.
#[derive(Clone, Copy)]
struct FrameFacts {
    role: Role,
    hint: NameHint,
    code: u32,
    optimizer: Option<Optimizer>,
    is_ddp: bool,
}

impl FrameFacts {
    fn of(snapshot: &Snapshot, frame: Frame) -> Self {
        let (file, name) = (snapshot.strings.path(frame.file), snapshot.strings.name(frame.name));
        let role = frame_role(&file, &name);
        Self {
            role,
            // Hints of other frames are never asked for.
            hint: match role {
                Role::Own | Role::Cache | Role::Neutral => name_hint(&file, &name),
                _ => NameHint::None,
            },
            code: mix(frame.file.0, frame.name.0),
            optimizer: Optimizer::of_frame(&file, role),
            is_ddp: file.ends_with("nn/parallel/distributed.py"),
        }
    }
}

/// The facts about all frames of a file.
pub(super) struct FactsByFrame {
    frames: Vec<FrameFacts>,
    /// Outermost frames of stacks that surely are a thread of the program.
    roots: HashSet<FrameId>,
    /// Code of modules that is called without `Module.__call__`.
    forwards: HashSet<u32>,
}

impl FactsByFrame {
    /// Look at every frame of a snapshot.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let frames = by_function(snapshot, |frame| FrameFacts::of(snapshot, frame));
        let mut out = Self { frames, roots: HashSet::default(), forwards: HashSet::default() };
        let shows_calls = out.has_any(&[Role::Call]);
        for id in 0..snapshot.stacks.len() as u32 {
            let frames = snapshot.stacks.frames(StackId(id));
            out.note_forwards(frames, shows_calls);
            out.note_root(frames);
        }
        out
    }

    /// Note the outermost frame of a stack that loads a model or steps an optimizer: only the program does that.
    fn note_root(&mut self, frames: &[FrameId]) {
        let is_program =
            |&id: &FrameId| matches!(self.role(id), Role::Load | Role::Step | Role::State | Role::ZeroGrad);
        let is_engine = |&id: &FrameId| matches!(self.role(id), Role::Checkpoint | Role::Engine);
        if let Some(&root) = frames.last()
            && frames.iter().any(is_program)
            && !frames.iter().any(is_engine)
        {
            self.roots.insert(root);
        }
    }

    /// Where a `forward` of the program calls another without `Module.__call__`, both are a module's. So is every one if no
    /// stack shows that at all.
    fn note_forwards(&mut self, frames: &[FrameId], shows_calls: bool) {
        let mut inner = None;
        for &id in frames {
            match (self.role(id), self.hint(id)) {
                (Role::Own, NameHint::Forward) => {
                    let code = self.code(id);
                    if !shows_calls || inner.is_some() {
                        self.forwards.extend(inner.into_iter().chain([code]));
                    }
                    inner = Some(code);
                }
                (Role::Own | Role::Cache | Role::Call, _) => inner = None,
                _ => {}
            }
        }
    }

    /// Whether any frame has one of some roles.
    pub(super) fn has_any(&self, roles: &[Role]) -> bool {
        self.frames.iter().any(|frame| roles.contains(&frame.role))
    }

    /// Whether there are frames, and all of them have one of some roles.
    pub(super) fn have_only(&self, roles: &[Role]) -> bool {
        !self.frames.is_empty() && self.frames.iter().all(|frame| roles.contains(&frame.role))
    }

    /// Whether `DistributedDataParallel` is at work.
    pub(super) fn use_ddp(&self) -> bool {
        self.frames.iter().any(|frame| frame.is_ddp)
    }

    #[inline]
    pub(super) fn role(&self, id: FrameId) -> Role {
        self.frames[id.index()].role
    }

    pub(super) fn hint(&self, id: FrameId) -> NameHint {
        self.frames[id.index()].hint
    }

    /// A number that stands for the file and function of a frame.
    pub(super) fn code(&self, id: FrameId) -> u32 {
        self.frames[id.index()].code
    }

    /// The optimizer of torch that a frame is part of.
    pub(super) fn optimizer(&self, id: FrameId) -> Option<Optimizer> {
        self.frames[id.index()].optimizer
    }

    /// All optimizers of torch that frames are part of, each once.
    pub(super) fn optimizers(&self) -> Vec<Optimizer> {
        let mut out = Vec::new();
        for optimizer in self.frames.iter().filter_map(|frame| frame.optimizer) {
            if !out.contains(&optimizer) {
                out.push(optimizer);
            }
        }
        out
    }

    /// Whether a frame is the outermost of a thread of the program.
    pub(super) fn is_root(&self, id: FrameId) -> bool {
        self.roots.contains(&id)
    }

    /// Whether a frame is the `forward` of a module that is called without `Module.__call__`.
    pub(super) fn is_module_forward(&self, id: FrameId) -> bool {
        self.hint(id) == NameHint::Forward && self.forwards.contains(&self.code(id))
    }
}
