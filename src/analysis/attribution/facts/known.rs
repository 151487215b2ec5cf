//! What is known of each frame of a file.

use super::fold::Fold;
use super::place::Place;
use crate::analysis::attribution::knowledge::Optimizer;
use crate::analysis::attribution::knowledge::{NameHint, name_hint};
use crate::analysis::attribution::knowledge::{Role, role};
use crate::model::{FrameId, Snapshot, StackId};
use foldhash::HashSet;
use rayon::prelude::*;

/// Mix two numbers that stand for code.
pub(super) fn mix(a: u32, b: u32) -> u32 {
    (a.rotate_left(5) ^ b).wrapping_mul(0x9e37_79b1).rotate_left(13)
}

/// What is known of one frame.
struct Known {
    role: Role,
    name: NameHint,
    code: u32,
    optimizer: Option<Optimizer>,
    is_ddp: bool,
}

impl Known {
    fn of(snapshot: &Snapshot, id: FrameId) -> Self {
        let frame = snapshot.frames.get(id);
        let (file, name) = (snapshot.strings.get(frame.file), snapshot.strings.get(frame.name));
        let role = role(&file, &name);
        Self {
            role,
            // Names of other frames are never asked for.
            name: match role {
                Role::Own | Role::Cache | Role::Neutral => name_hint(&file, &name),
                _ => NameHint::None,
            },
            code: mix(frame.file.0, frame.name.0),
            optimizer: Optimizer::of_frame(&file, role),
            is_ddp: file.ends_with("nn/parallel/distributed.py"),
        }
    }
}

/// What is known of each frame.
pub(super) struct Frames {
    pub(super) roles: Vec<Role>,
    /// File and function, mixed.
    pub(super) code: Vec<u32>,
    names: Vec<NameHint>,
    /// Outermost frames of stacks that surely are a thread of the program.
    roots: HashSet<FrameId>,
    /// Code of modules that is called without `Module.__call__`.
    forwards: HashSet<u32>,
    /// Whether some stack begins where a thread of the program does, as far as frames say so.
    has_roots: bool,
    /// Which optimizer of torch each frame is part of.
    optimizers: Vec<Option<Optimizer>>,
    pub(super) uses_ddp: bool,
}

impl Frames {
    /// Look at every frame of a snapshot.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let read: Vec<Known> = (0..snapshot.frames.len() as u32)
            .into_par_iter()
            .map(|id| Known::of(snapshot, FrameId(id)))
            .collect();
        let mut out = Self {
            roles: read.iter().map(|known| known.role).collect(),
            names: read.iter().map(|known| known.name).collect(),
            code: read.iter().map(|known| known.code).collect(),
            roots: HashSet::default(),
            forwards: HashSet::default(),
            has_roots: read.iter().any(|known| matches!(known.role, Role::Root | Role::Start)),
            optimizers: read.iter().map(|known| known.optimizer).collect(),
            uses_ddp: read.iter().any(|known| known.is_ddp),
        };
        let shows_calls = out.roles.contains(&Role::Call);
        for id in 0..snapshot.stacks.len() as u32 {
            let frames = snapshot.stacks.frames(StackId(id));
            out.note_forwards(frames, shows_calls);
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

    /// Where a `forward` of the program calls another without `Module.__call__`, both are a module's. So is every one if no
    /// stack shows that at all.
    fn note_forwards(&mut self, frames: &[FrameId], shows_calls: bool) {
        let mut inner = None;
        for &id in frames {
            match (self.role(id), self.name(id)) {
                (Role::Own, NameHint::Forward) => {
                    let code = self.code_of(id);
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

    fn code_of(&self, id: FrameId) -> u32 {
        self.code.get(id.index()).copied().unwrap_or(0)
    }

    /// Whether a frame is the `forward` of a module that is called without `Module.__call__`.
    pub(super) fn is_module_forward(&self, id: FrameId) -> bool {
        self.name(id) == NameHint::Forward && self.forwards.contains(&self.code_of(id))
    }

    pub(super) fn optimizer(&self, id: FrameId) -> Option<Optimizer> {
        self.optimizers.get(id.index()).copied().flatten()
    }

    pub(super) fn optimizers(&self) -> Vec<Optimizer> {
        let mut out = Vec::new();
        for &optimizer in self.optimizers.iter().flatten() {
            if !out.contains(&optimizer) {
                out.push(optimizer);
            }
        }
        out
    }

    pub(super) fn role(&self, id: FrameId) -> Role {
        self.roles.get(id.index()).copied().unwrap_or(Role::Neutral)
    }

    pub(super) fn name(&self, id: FrameId) -> NameHint {
        self.names.get(id.index()).copied().unwrap_or(NameHint::None)
    }

    pub(super) fn place(&self, frames: &[FrameId]) -> Place {
        let mut fold = Fold::default();
        for &frame in frames {
            fold.frame(self, frame);
        }
        let Some(&root) = frames.last() else { return Place::NOTHING };
        let in_program = self.roots.contains(&root) || fold.has_root || self.role(root) == Role::Compiled;
        // Hooks that the autograd engine calls begin with the program's own code, too: that tells
        // nothing unless no stack goes down to the start of the program.
        let is_cut = !self.has_roots && matches!(self.role(root), Role::Own | Role::Cache);
        fold.finish(in_program || is_cut)
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::attribution::facts::fixture::Program;
    use crate::analysis::attribution::facts::{Part, Places};

    const CUT: &[&str] = &["/home/me/model.py attention", "/home/me/model.py block"];
    const HOOK: &[&str] = &["/home/me/model.py scale"];
    const ENGINE: &[&str] = &["torch/nn/functional.py silu"];

    /// The parts of two cut stacks and one of the engine, in a file that also has a stack.
    fn parts(other: &[&str]) -> [Part; 3] {
        let mut program = Program::default();
        program.alloc(512, other);
        let ids = [CUT, HOOK, ENGINE].map(|stack| {
            program.alloc(512, stack);
            program.stack(stack)
        });
        let places = Places::of(&program.finish());
        ids.map(|id| places.get(id).part)
    }

    #[test]
    fn own_code_without_a_root_is_the_program_where_no_stack_has_one() {
        assert_eq!(parts(CUT), [Part::Main, Part::Main, Part::Backward]);
    }

    #[test]
    fn own_code_without_a_root_is_a_hook_where_others_have_one() {
        assert_eq!(parts(&["/home/me/train.py <module>"]), [Part::Backward; 3]);
    }
}
