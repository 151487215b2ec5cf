//! Where in the program a stack lies: each stack of the file is looked at once.

use super::optimizer::Optimizer;
use super::role::{Role, role};
use crate::model::{FrameId, Snapshot, StackId};
use foldhash::HashSet;
use rayon::prelude::*;

/// What the code that a stack shows is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::analysis) enum Part {
    /// No frame was recorded.
    Nothing,
    /// Parameters and buffers are made or moved.
    Load,
    /// Tensors are read from a file.
    Restore,
    /// A module is called.
    Call,
    /// The autograd engine runs.
    Backward,
    /// Checkpointing computes a part of the forward again.
    Recompute,
    /// An optimizer sets up its state.
    State,
    /// An optimizer works on many tensors at once.
    Foreach,
    /// An optimizer steps.
    Step,
    /// Gradients are dropped.
    ZeroGrad,
    /// Gradients are scaled or clipped.
    BetweenSteps,
    /// Communication buffers.
    Comm,
    /// A batch is loaded or brought to the device.
    Data,
    /// Workspaces of libraries.
    Workspace,
    /// Code outside of all that.
    Main,
}

/// A stack, understood.
#[expect(clippy::struct_excessive_bools, reason = "each says another thing of the same stack")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::analysis) struct Place {
    /// What it is part of.
    pub(in crate::analysis) part: Part,
    /// In a function of a key/value cache.
    pub(in crate::analysis) in_cache: bool,
    /// In a helper that a module's `forward` calls, rather than in a `forward` itself.
    pub(in crate::analysis) in_helper: bool,
    /// Gradients are switched off by a decorator.
    pub(in crate::analysis) no_grad: bool,
    /// In a part of a model that checkpointing will compute again.
    pub(in crate::analysis) checkpoints: bool,
    /// In the program's own `__init__`, with a device set from outside.
    pub(in crate::analysis) on_set_device: bool,
    /// In some `__init__` of the program's own.
    pub(in crate::analysis) in_init: bool,
    /// An optimizer's step is under way, maybe further out: what a closure does.
    pub(in crate::analysis) within_step: bool,
    /// In the step of an optimizer that the program defines.
    own_step: bool,
    /// In a function that perturbs parameters for a second backward.
    pub(in crate::analysis) perturbs: bool,
    /// Names on the way say that this is evaluation or inference.
    pub(in crate::analysis) says_eval: bool,
    /// Stands for the frames outside of the outermost module; equal where those are equal.
    pub(in crate::analysis) caller: u32,
    /// The same by their functions only, whatever their lines.
    pub(in crate::analysis) calling_code: u32,
}

impl Place {
    const NOTHING: Self = Self {
        part: Part::Nothing,
        in_cache: false,
        in_helper: false,
        no_grad: false,
        checkpoints: false,
        on_set_device: false,
        in_init: false,
        within_step: false,
        own_step: false,
        perturbs: false,
        says_eval: false,
        caller: 0,
        calling_code: 0,
    };
}

/// The places of all stacks.
#[derive(Debug)]
pub(in crate::analysis) struct Places {
    places: Vec<Place>,
    /// All frames are of compiled code, which says little of what it is for.
    pub(in crate::analysis) is_compiled: bool,
    /// The optimizers that steps run through; empty if no step allocates.
    pub(in crate::analysis) optimizers: Vec<Optimizer>,
    /// `DistributedDataParallel` is at work.
    pub(in crate::analysis) uses_ddp: bool,
}

impl Places {
    /// Look at every frame and stack of a snapshot.
    pub(in crate::analysis) fn of(snapshot: &Snapshot) -> Self {
        let frames = Frames::of(snapshot);
        let places: Vec<Place> = (0..snapshot.stacks.len() as u32)
            .into_par_iter()
            .map(|id| frames.place(snapshot.stacks.frames(StackId(id))))
            .collect();
        let all = |roles: &[Role]| frames.roles.iter().all(|role| roles.contains(role));
        let mut optimizers = frames.optimizers();
        if places.iter().any(|place| place.own_step) && !optimizers.contains(&Optimizer::OfItsOwn) {
            optimizers.push(Optimizer::OfItsOwn);
        }
        let is_compiled = !frames.roles.is_empty()
            && all(&[Role::Compiled, Role::Engine, Role::Workspace, Role::Start, Role::Comm]);
        Self { places, is_compiled, optimizers, uses_ddp: frames.uses_ddp }
    }

    /// The place of a stack.
    #[inline]
    pub(in crate::analysis) fn get(&self, stack: StackId) -> Place {
        self.places.get(stack.index()).copied().unwrap_or(Place::NOTHING)
    }
}

fn mix(a: u32, b: u32) -> u32 {
    (a.rotate_left(5) ^ b).wrapping_mul(0x9e37_79b1).rotate_left(13)
}

/// What is known of each frame.
struct Frames {
    roles: Vec<Role>,
    /// File and function, mixed.
    code: Vec<u32>,
    names: Vec<NameHint>,
    /// Outermost frames of stacks that surely are a thread of the program.
    roots: HashSet<FrameId>,
    /// Which optimizer of torch each frame is part of.
    optimizers: Vec<Option<Optimizer>>,
    uses_ddp: bool,
}

/// What a function's name hints at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameHint {
    None,
    Init,
    Forward,
    Eval,
    Train,
    Perturb,
    SetDevice,
    /// A loop that trains or evaluates, in a library around torch: whether it evaluates.
    Library(Option<bool>),
}

/// Libraries with loops of their own.
const LOOPS: [&str; 6] = ["transformers", "accelerate", "trl", "lightning", "pytorch_lightning", "diffusers"];

fn name_hint(file: &str, name: &str) -> NameHint {
    let inner = file.rsplit_once("-packages/").map_or("", |(_, inner)| inner);
    if inner.split(['/', '\\']).next().is_some_and(|package| LOOPS.contains(&package)) {
        return NameHint::Library(match plain_hint(file, name) {
            NameHint::Eval => Some(true),
            NameHint::Train => Some(false),
            _ => None,
        });
    }
    plain_hint(file, name)
}

fn plain_hint(file: &str, name: &str) -> NameHint {
    let name = name.rsplit('.').next().unwrap_or(name);
    let lower = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if name == "__init__" {
        NameHint::Init
    } else if file.ends_with("torch/utils/_device.py") {
        NameHint::SetDevice
    } else if lower == "forward" {
        NameHint::Forward
    } else if matches!(lower.as_str(), "first_step" | "second_step") {
        NameHint::Perturb
    } else if has(&["train", "fit"]) {
        NameHint::Train
    } else if has(&["eval", "valid", "infer", "generate", "predict", "sample", "decode", "test_", "encode"]) {
        NameHint::Eval
    } else {
        NameHint::None
    }
}

impl Frames {
    fn of(snapshot: &Snapshot) -> Self {
        let read: Vec<(Role, NameHint, u32, Option<Optimizer>, bool)> = (0..snapshot.frames.len() as u32)
            .into_par_iter()
            .map(|id| {
                let frame = snapshot.frames.get(FrameId(id));
                let (file, name) = (snapshot.strings.get(frame.file), snapshot.strings.get(frame.name));
                let role = role(&file, &name);
                let optimizer = Optimizer::of_frame(&file, role);
                let is_ddp = file.ends_with("nn/parallel/distributed.py");
                (role, name_hint(&file, &name), mix(frame.file.0, frame.name.0), optimizer, is_ddp)
            })
            .collect();
        let mut out = Self {
            roles: read.iter().map(|r| r.0).collect(),
            names: read.iter().map(|r| r.1).collect(),
            code: read.iter().map(|r| r.2).collect(),
            roots: HashSet::default(),
            optimizers: read.iter().map(|r| r.3).collect(),
            uses_ddp: read.iter().any(|r| r.4),
        };
        for id in 0..snapshot.stacks.len() as u32 {
            let frames = snapshot.stacks.frames(StackId(id));
            let is_program = |&&frame: &&FrameId| {
                matches!(out.role(frame), Role::Load | Role::Step | Role::State | Role::ZeroGrad)
            };
            if let Some(&root) = frames.last()
                && frames.iter().find(is_program).is_some()
                && !frames.iter().any(|&frame| matches!(out.role(frame), Role::Checkpoint | Role::Engine))
            {
                out.roots.insert(root);
            }
        }
        out
    }

    fn optimizer(&self, id: FrameId) -> Option<Optimizer> {
        self.optimizers.get(id.index()).copied().flatten()
    }

    fn optimizers(&self) -> Vec<Optimizer> {
        let mut out = Vec::new();
        for &optimizer in self.optimizers.iter().flatten() {
            if !out.contains(&optimizer) {
                out.push(optimizer);
            }
        }
        out
    }

    fn role(&self, id: FrameId) -> Role {
        self.roles.get(id.index()).copied().unwrap_or(Role::Neutral)
    }

    fn name(&self, id: FrameId) -> NameHint {
        self.names.get(id.index()).copied().unwrap_or(NameHint::None)
    }

    fn place(&self, frames: &[FrameId]) -> Place {
        let mut fold = Fold::default();
        for &frame in frames {
            fold.frame(self, frame);
        }
        let Some(&root) = frames.last() else { return Place::NOTHING };
        let in_program = self.roots.contains(&root) || fold.has_root || self.role(root) == Role::Compiled;
        fold.finish(in_program)
    }
}

/// A stack, read from its innermost frame outwards.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each notes whether something was met")]
struct Fold {
    part: Option<Part>,
    has_root: bool,
    has_engine: bool,
    checkpoint: bool,
    backward: bool,
    unshards: bool,
    backward_before_checkpoint: bool,
    copies: [bool; 3],
    in_cache: bool,
    helper: Option<bool>,
    no_grad: bool,
    set_device: bool,
    in_init: bool,
    within_step: bool,
    own_step: bool,
    perturbs: bool,
    eval: Option<bool>,
    caller: u32,
    calling_code: u32,
    depth_of_own: usize,
}

impl Fold {
    fn frame(&mut self, frames: &Frames, id: FrameId) {
        let role = frames.role(id);
        let decided = match role {
            Role::Own | Role::Cache => {
                self.own(frames, id, role);
                None
            }
            Role::Neutral | Role::Compiled => {
                match frames.name(id) {
                    NameHint::SetDevice => self.set_device |= self.part.is_none(),
                    // A library's loops call models as a program's own do.
                    NameHint::Library(is_eval) => {
                        self.outside(frames, id);
                        self.eval = self.eval.or(is_eval);
                    }
                    _ => {}
                }
                None
            }
            Role::Start => {
                self.has_root = true;
                None
            }
            Role::Root => {
                self.has_root = true;
                self.outside(frames, id);
                None
            }
            Role::Call => {
                (self.caller, self.calling_code) = (0, 0);
                Some(Part::Call)
            }
            Role::Load => Some(Part::Load),
            Role::Restore => Some(Part::Restore),
            Role::CopyDict => {
                self.copies[0] = true;
                None
            }
            Role::CopyObject => {
                self.copies[1] = true;
                None
            }
            Role::CopyTensor => {
                self.copies[2] = true;
                None
            }
            Role::Step => {
                self.within_step = true;
                let is_own = self.part.is_none() && 0 < self.depth_of_own;
                self.own_step |= is_own && frames.optimizer(id).is_none();
                Some(Part::Step)
            }
            Role::State => Some(Part::State),
            Role::Foreach => Some(Part::Foreach),
            Role::ZeroGrad => Some(Part::ZeroGrad),
            Role::Backward => {
                self.backward = true;
                self.backward_before_checkpoint |= !self.checkpoint;
                Some(Part::Backward)
            }
            Role::Engine => {
                self.has_engine = true;
                None
            }
            Role::Checkpoint => {
                self.checkpoint = true;
                None
            }
            Role::Unshard => {
                self.unshards |= self.part.is_none();
                Some(Part::Load)
            }
            Role::Comm => Some(Part::Comm),
            Role::Data => Some(Part::Data),
            Role::BetweenSteps => Some(Part::BetweenSteps),
            Role::NoGrad => {
                self.no_grad |= matches!(self.part, None | Some(Part::Call));
                None
            }
            Role::Workspace => Some(Part::Workspace),
        };
        self.part = self.part.or(decided);
    }

    fn outside(&mut self, frames: &Frames, id: FrameId) {
        self.caller = mix(self.caller, id.0);
        self.calling_code = mix(self.calling_code, frames.code.get(id.index()).copied().unwrap_or(0));
    }

    fn own(&mut self, frames: &Frames, id: FrameId, role: Role) {
        self.depth_of_own += 1;
        self.outside(frames, id);
        let name = frames.name(id);
        if self.part.is_none() {
            self.in_cache |= role == Role::Cache && self.depth_of_own <= 4;
            self.in_init |= name == NameHint::Init;
            self.helper.get_or_insert(name != NameHint::Forward);
        }
        self.perturbs |= name == NameHint::Perturb;
        match name {
            NameHint::Eval => {
                self.eval.get_or_insert(true);
            }
            NameHint::Train => {
                self.eval.get_or_insert(false);
            }
            _ => {}
        }
    }

    fn finish(self, in_program: bool) -> Place {
        let copies_module = self.copies == [true; 3];
        let mut part = match self.part {
            Some(part) => part,
            None if copies_module => Part::Load,
            None => Part::Main,
        };
        let is_step = matches!(part, Part::Step | Part::State | Part::Foreach | Part::Workspace);
        if (self.has_engine || self.backward || !in_program) && !is_step && !self.unshards {
            let again = self.checkpoint && !self.backward_before_checkpoint;
            part = if again { Part::Recompute } else { Part::Backward };
        }
        Place {
            part,
            in_cache: self.in_cache,
            in_helper: self.helper.unwrap_or(false),
            no_grad: self.no_grad,
            checkpoints: self.checkpoint && part == Part::Call,
            on_set_device: self.set_device && self.in_init,
            in_init: self.in_init,
            within_step: self.within_step,
            own_step: self.own_step,
            perturbs: self.perturbs,
            says_eval: self.eval.unwrap_or(false),
            caller: self.caller,
            calling_code: self.calling_code,
        }
    }
}
