//! A stack, read frame by frame.

use super::known::{Frames, mix};
use super::place::{Part, Place};
use crate::analysis::attribution::knowledge::NameHint;
use crate::analysis::attribution::knowledge::Role;
use crate::model::FrameId;

/// A stack, read from its innermost frame outwards.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each notes whether something was met")]
pub(super) struct Fold {
    part: Option<Part>,
    /// The frame that decided the part; the first that shows the autograd engine; the innermost of the program's own.
    frames: [Option<FrameId>; 3],
    pub(super) has_root: bool,
    has_engine: bool,
    checkpoint: bool,
    backward: bool,
    unshards: bool,
    backward_before_checkpoint: bool,
    copies: [bool; 3],
    in_cache: bool,
    no_grad: bool,
    set_device: bool,
    in_init: bool,
    in_own_step: bool,
    below_own_step: bool,
    computes: bool,
    for_weights: bool,
    within_step: bool,
    own_step: bool,
    perturbs: bool,
    in_closure: bool,
    closure_line: u32,
    eval: Option<bool>,
    may_eval: bool,
    caller: u32,
    calling_code: u32,
    depth_of_own: usize,
}

impl Fold {
    /// Take the next frame.
    pub(super) fn frame(&mut self, frames: &Frames, id: FrameId) {
        let role = frames.role(id);
        self.note(frames, id, role);
        let decided = self.decide(frames, id, role);
        if self.part.is_none() && decided.is_some() {
            self.part = decided;
            self.frames[0] = Some(id);
        }
    }

    /// What a frame adds to what is known of the stack.
    fn note(&mut self, frames: &Frames, id: FrameId, role: Role) {
        match role {
            Role::Own | Role::Cache => self.own(frames, id, role),
            Role::Functional => self.computes |= self.part.is_none(),
            Role::Neutral => match frames.name(id) {
                NameHint::SetDevice => self.set_device |= self.part.is_none(),
                // A library's loops call models as a program's own do.
                NameHint::Library(is_eval) => {
                    self.outside(frames, id);
                    self.eval = self.eval.or(is_eval);
                }
                _ => {}
            },
            Role::Start => self.has_root = true,
            Role::Root => {
                self.has_root = true;
                self.outside(frames, id);
            }
            Role::CopyDict => self.copies[0] = true,
            Role::CopyObject => self.copies[1] = true,
            Role::CopyTensor => self.copies[2] = true,
            Role::Backward => {
                self.backward = true;
                self.frames[1].get_or_insert(id);
                self.backward_before_checkpoint |= !self.checkpoint;
            }
            Role::Engine => {
                self.has_engine = true;
                self.frames[1].get_or_insert(id);
            }
            Role::Checkpoint => self.checkpoint = true,
            Role::Unshard => self.unshards |= self.part.is_none(),
            // The decorator of a step is not around what its closure does.
            Role::NoGrad => self.no_grad |= !self.within_step && matches!(self.part, None | Some(Part::Call)),
            Role::EnableGrad => self.in_closure |= 0 < self.depth_of_own,
            _ => {}
        }
    }

    /// Which part of the program a frame shows, if it does.
    fn decide(&mut self, frames: &Frames, id: FrameId, role: Role) -> Option<Part> {
        match role {
            Role::Own | Role::Cache if frames.name(id) == NameHint::Batch => Some(Part::Data),
            Role::Own | Role::Cache => frames.is_module_forward(id).then(|| self.enter_call()),
            Role::Call => Some(self.enter_call()),
            Role::Step => Some(self.step(frames, id)),
            Role::Load | Role::Unshard => Some(Part::Load),
            Role::Restore => Some(Part::Restore),
            Role::State => Some(Part::State),
            Role::Foreach => Some(Part::Foreach),
            Role::ZeroGrad => Some(Part::ZeroGrad),
            Role::Backward => Some(Part::Backward),
            Role::Comm => Some(Part::Comm),
            Role::Data => Some(Part::Data),
            Role::BetweenSteps => Some(Part::BetweenSteps),
            Role::Workspace => Some(Part::Workspace),
            _ => None,
        }
    }

    /// What a model calls its methods says nothing of the loop around it.
    fn enter_call(&mut self) -> Part {
        (self.caller, self.calling_code) = (0, 0);
        (self.eval, self.may_eval) = (None, false);
        Part::Call
    }

    /// A frame of an optimizer's step. The program's own code within the step of one of torch's is a closure.
    fn step(&mut self, frames: &Frames, id: FrameId) -> Part {
        let of_torch = frames.optimizer(id).is_some();
        if of_torch && 0 < self.depth_of_own && !self.own_step {
            self.in_closure = true;
            self.closure_line = id.0 + 1;
        }
        if self.in_closure {
            self.no_grad = false;
        }
        let is_own = self.part.is_none() && 0 < self.depth_of_own && !self.in_closure;
        self.own_step |= is_own && !of_torch;
        self.within_step = true;
        if self.in_closure && 0 < self.depth_of_own { Part::Main } else { Part::Step }
    }

    fn outside(&mut self, frames: &Frames, id: FrameId) {
        self.caller = mix(self.caller, id.0);
        self.calling_code = mix(self.calling_code, frames.code.get(id.index()).copied().unwrap_or(0));
    }

    fn own(&mut self, frames: &Frames, id: FrameId, role: Role) {
        self.depth_of_own += 1;
        self.frames[2].get_or_insert(id);
        self.outside(frames, id);
        let name = frames.name(id);
        if self.part.is_none() {
            self.in_cache |= role == Role::Cache && self.depth_of_own <= 4;
            self.in_init |= name == NameHint::Init;
            self.in_own_step |= name == NameHint::Step && self.depth_of_own == 1;
            self.below_own_step |= name == NameHint::Step;
            self.for_weights |= name == NameHint::Weights;
        }
        self.perturbs |= name == NameHint::Perturb;
        match name {
            NameHint::Eval => {
                self.eval.get_or_insert(true);
            }
            NameHint::Train => {
                self.eval.get_or_insert(false);
            }
            NameHint::Closure => self.in_closure = true,
            NameHint::MayEval => self.may_eval |= self.eval.is_none(),
            _ => {}
        }
    }

    /// What the stack says.
    pub(super) fn finish(self, in_program: bool) -> Place {
        let copies_module = self.copies == [true; 3];
        let [by_part, by_engine, by_own] = self.frames;
        let mut decided_by = by_part.or(by_own);
        let mut part = match self.part {
            Some(part) => part,
            None if copies_module => Part::Load,
            None => Part::Main,
        };
        let is_step = matches!(part, Part::Step | Part::State | Part::Foreach | Part::Workspace);
        if (self.has_engine || self.backward || !in_program) && !is_step && !self.unshards {
            let again = self.checkpoint && !self.backward_before_checkpoint;
            part = if again { Part::Recompute } else { Part::Backward };
            decided_by = by_engine.or(by_own);
        }
        Place {
            part,
            decided_by,
            in_cache: self.in_cache,
            no_grad: self.no_grad,
            checkpoints: self.checkpoint && part == Part::Call,
            on_set_device: self.set_device && self.in_init,
            in_init: self.in_init,
            in_own_step: self.in_own_step,
            below_own_step: self.below_own_step,
            computes: self.computes,
            for_weights: self.for_weights,
            within_step: self.within_step,
            own_step: self.own_step,
            perturbs: self.perturbs,
            closure_line: self.closure_line,
            says_eval: self.eval.unwrap_or(false),
            may_eval: self.may_eval,
            caller: self.caller,
            calling_code: self.calling_code,
        }
    }
}
