//! Reads a stack frame by frame, from the innermost outwards.

use super::frame_facts::{FactsByFrame, mix};
use super::own_models::OwnModels;
use super::stack_facts::{CodePart, StackFacts};
use super::stack_traits::StackTrait;
use crate::attribution::knowledge::{NameHint, Role};
use oomscope_model::{FrameId, StackId};

/// A function of a cache counts only if it is within this many innermost frames of the program's own. Further out, it only
/// calls code that allocates something else.
const MAX_CACHE_DEPTH: usize = 4;

/// Read a stack. `has_roots` says whether some stack of the file begins where a thread of the program does, as far as frames
/// say so.
pub(super) fn read_stack(
    frames: &FactsByFrame,
    has_roots: bool,
    models: &OwnModels,
    id: StackId,
    stack: &[FrameId],
) -> StackFacts {
    let Some(&root) = stack.last() else { return StackFacts::default() };
    let mut reader = StackReader::default();
    let mut is_line_of_model = models.lines.contains(&id);
    for &frame in stack {
        reader.read_frame(frames, frame);
        if matches!(frames.role(frame), Role::Own | Role::Cache | Role::Root)
            && (std::mem::take(&mut is_line_of_model) || models.functions.contains(&frames.code(frame)))
        {
            reader.enter_own_model(frames.code(frame), frame);
        }
        if frames.role(frame) == Role::Transform
            && let Some((own, code)) = reader.last_own
        {
            reader.enter_own_model(code, own);
        }
    }
    let starts_program =
        frames.is_root(root) || reader.has(StackTrait::HasRoot) || frames.role(root) == Role::Compiled;
    // Hooks that the autograd engine calls begin with the program's own code, too. So the program's own code at the
    // bottom of a stack counts as the program only if no stack of the file goes down to its start.
    let is_cut = !has_roots && matches!(frames.role(root), Role::Own | Role::Cache);
    reader.finish(starts_program || is_cut)
}

/// A stack as far as it has been read.
#[derive(Default)]
struct StackReader {
    /// The part of the program: the innermost frame that shows one decides.
    part: Option<CodePart>,
    /// The frame that decided the part.
    part_frame: Option<FrameId>,
    /// The first frame that shows the autograd engine.
    engine_frame: Option<FrameId>,
    /// The innermost frame of the program's own.
    own_frame: Option<FrameId>,
    /// The outermost one so far, and its code.
    last_own: Option<(FrameId, u32)>,
    /// How many frames of the program's own there were.
    own_depth: usize,
    /// The facts so far, without the part.
    facts: StackFacts,
    /// Whether names of functions say that a model is evaluated, or trained; the innermost that says either decides.
    evaluates: Option<bool>,
    /// The code of the last frame that is no `Module.__call__`.
    last_code: u32,
}

impl StackReader {
    fn has(&self, wanted: StackTrait) -> bool {
        self.facts.traits.has(wanted)
    }

    fn read_frame(&mut self, frames: &FactsByFrame, id: FrameId) {
        let role = frames.role(id);
        self.note(frames, id, role);
        let decided = self.part_of(frames, id, role);
        if self.part.is_none() && decided.is_some() {
            self.part = decided;
            self.part_frame = Some(id);
        }
        if role != Role::Call {
            self.last_code = frames.code(id);
        }
    }

    /// Note the traits that a frame adds to its stack.
    fn note(&mut self, frames: &FactsByFrame, id: FrameId, role: Role) {
        let is_open = self.part.is_none();
        match role {
            Role::Own | Role::Cache => self.note_own(frames, id, role),
            Role::Functional => self.facts.traits.add_if(StackTrait::InFunctional, is_open),
            Role::Neutral => match frames.hint(id) {
                NameHint::SetDevice => self.facts.traits.add_if(StackTrait::SetsDevice, is_open),
                // A library's loops call models as a program's own do.
                NameHint::Library(evaluates) => {
                    self.note_caller(frames, id);
                    self.evaluates = self.evaluates.or(evaluates);
                }
                _ => {}
            },
            Role::Start => self.facts.traits.add(StackTrait::HasRoot),
            Role::Root => {
                self.facts.traits.add(StackTrait::HasRoot);
                self.note_caller(frames, id);
            }
            Role::CopyDict => self.facts.traits.add(StackTrait::CopiesDict),
            Role::CopyObject => self.facts.traits.add(StackTrait::CopiesObject),
            Role::CopyTensor => self.facts.traits.add(StackTrait::CopiesTensor),
            Role::Backward => {
                self.engine_frame.get_or_insert(id);
                let is_inner = !self.has(StackTrait::HasCheckpoint);
                self.facts.traits.add(StackTrait::StartsBackward);
                self.facts.traits.add_if(StackTrait::StartsBackwardInCheckpoint, is_inner);
            }
            Role::Engine => {
                self.engine_frame.get_or_insert(id);
                self.facts.traits.add(StackTrait::HasEngine);
            }
            Role::Checkpoint => self.facts.traits.add(StackTrait::HasCheckpoint),
            Role::Unshard => self.facts.traits.add_if(StackTrait::Unshards, is_open),
            Role::NoGrad => {
                // torch decorates a step with `no_grad`, but that is not around what the step's closure does.
                let is_around = !self.has(StackTrait::WithinStep);
                let may_train = matches!(self.part, None | Some(CodePart::Call));
                self.facts.traits.add_if(StackTrait::NoGrad, is_around && may_train);
            }
            Role::EnableGrad => self.facts.traits.add_if(StackTrait::InClosure, 0 < self.own_depth),
            _ => {}
        }
    }

    /// Note a frame of the program's own.
    fn note_own(&mut self, frames: &FactsByFrame, id: FrameId, role: Role) {
        self.own_depth += 1;
        self.own_frame.get_or_insert(id);
        self.last_own = Some((id, frames.code(id)));
        self.note_caller(frames, id);
        let hint = frames.hint(id);
        if self.part.is_none() {
            let in_cache = role == Role::Cache && self.own_depth <= MAX_CACHE_DEPTH;
            let is_step = hint == NameHint::Step;
            self.facts.traits.add_if(StackTrait::InCache, in_cache);
            self.facts.traits.add_if(StackTrait::InInit, hint == NameHint::Init);
            self.facts.traits.add_if(StackTrait::InnermostNamedStep, is_step && self.own_depth == 1);
            self.facts.traits.add_if(StackTrait::AnyNamedStep, is_step);
            let inits = hint == NameHint::InitWeights;
            self.facts.traits.add_if(StackTrait::MakesWeights, inits || hint == NameHint::Weights);
            self.facts.traits.add_if(StackTrait::InitsWeights, inits);
        }
        match hint {
            NameHint::Eval => _ = self.evaluates.get_or_insert(true),
            NameHint::Train => _ = self.evaluates.get_or_insert(false),
            NameHint::Closure => self.facts.traits.add(StackTrait::InClosure),
            NameHint::Perturb => self.facts.traits.add(StackTrait::Perturbs),
            NameHint::MayEval => self.facts.traits.add_if(StackTrait::MaybeEval, self.evaluates.is_none()),
            _ => {}
        }
    }

    /// Note a frame outside of modules: these frames together stand for who calls the model.
    fn note_caller(&mut self, frames: &FactsByFrame, id: FrameId) {
        self.facts.caller = mix(self.facts.caller, id.0);
        self.facts.calling_code = mix(self.facts.calling_code, frames.code(id));
    }

    /// The part of the program that a frame shows, if it shows one.
    fn part_of(&mut self, frames: &FactsByFrame, id: FrameId, role: Role) -> Option<CodePart> {
        match role {
            Role::Own | Role::Cache if frames.hint(id) == NameHint::Batch => Some(CodePart::Data),
            Role::Own | Role::Cache => frames.is_module_forward(id).then(|| self.enter_call(frames.code(id))),
            Role::Call => Some(self.enter_call(self.last_code)),
            Role::Step => Some(self.enter_step(frames, id)),
            Role::Load | Role::Unshard => Some(CodePart::Load),
            Role::Restore => Some(CodePart::Restore),
            Role::State => Some(CodePart::State),
            Role::Foreach => Some(CodePart::Foreach),
            Role::ZeroGrad => Some(CodePart::ZeroGrad),
            Role::Backward => Some(CodePart::Backward),
            Role::FlatBuffer => Some(CodePart::FlatBuffer),
            Role::MainParameters => Some(CodePart::MainParameters),
            Role::GradientCopy => Some(CodePart::GradientCopy),
            Role::Comm => Some(CodePart::Comm),
            Role::Data => Some(CodePart::Data),
            Role::BetweenSteps => Some(CodePart::BetweenSteps),
            Role::Workspace => Some(CodePart::Workspace),
            _ => None,
        }
    }

    /// Enter a module's call. Names of functions within a model say nothing of the loop around it, so they are forgotten.
    fn enter_call(&mut self, module_code: u32) -> CodePart {
        self.facts.module_code = module_code;
        (self.facts.caller, self.facts.calling_code) = (0, 0);
        self.evaluates = None;
        self.facts.traits.remove(StackTrait::MaybeEval);
        CodePart::Call
    }

    /// Enter a function of the program's own that works as a model, unless something further in decides.
    fn enter_own_model(&mut self, code: u32, id: FrameId) {
        if self.part.is_none() {
            self.part_frame = Some(id);
            self.facts.traits.add(StackTrait::InOwnModel);
        }
        if self.has(StackTrait::InOwnModel) {
            self.part = Some(self.enter_call(code));
        }
    }

    /// Enter an optimizer's step. The program's own code within the step of one of torch's optimizers is a closure.
    fn enter_step(&mut self, frames: &FactsByFrame, id: FrameId) -> CodePart {
        let is_of_torch = frames.optimizer(id).is_some();
        let has_own = 0 < self.own_depth;
        if is_of_torch && has_own && !self.has(StackTrait::InOwnOptimizer) {
            self.facts.traits.add(StackTrait::InClosure);
            self.facts.closure_line = id.0 + 1;
        }
        let in_closure = self.has(StackTrait::InClosure);
        if in_closure {
            self.facts.traits.remove(StackTrait::NoGrad);
        }
        let is_own = self.part.is_none() && has_own && !in_closure;
        self.facts.traits.add_if(StackTrait::InOwnOptimizer, is_own && !is_of_torch);
        self.facts.traits.add(StackTrait::WithinStep);
        if in_closure && has_own { CodePart::Main } else { CodePart::Step }
    }

    /// The facts about the whole stack. Without the program at its start, it is one of the autograd engine's threads.
    fn finish(mut self, in_program: bool) -> StackFacts {
        let mut decided_by = self.part_frame.or(self.own_frame);
        let mut part = match self.part {
            Some(part) => part,
            None if self.copies_module() => CodePart::Load,
            None => CodePart::Main,
        };
        let is_step =
            matches!(part, CodePart::Step | CodePart::State | CodePart::Foreach | CodePart::Workspace);
        let in_engine =
            self.has(StackTrait::HasEngine) || self.has(StackTrait::StartsBackward) || !in_program;
        if in_engine && !is_step && !self.has(StackTrait::Unshards) {
            let computes_again =
                self.has(StackTrait::HasCheckpoint) && !self.has(StackTrait::StartsBackwardInCheckpoint);
            part = if computes_again { CodePart::Recompute } else { CodePart::Backward };
            decided_by = self.engine_frame.or(self.own_frame);
        }
        let is_checkpointed = self.has(StackTrait::HasCheckpoint) && part == CodePart::Call;
        self.facts.traits.add_if(StackTrait::Checkpointed, is_checkpointed);
        let is_on_device = self.has(StackTrait::SetsDevice) && self.has(StackTrait::InInit);
        self.facts.traits.add_if(StackTrait::InitOnDevice, is_on_device);
        self.facts.traits.add_if(StackTrait::NamedEval, self.evaluates == Some(true));
        StackFacts { part, decided_by, ..self.facts }
    }

    /// Whether `copy.deepcopy` copies a module: it goes through its dict, then its parts, then their tensors.
    fn copies_module(&self) -> bool {
        [StackTrait::CopiesDict, StackTrait::CopiesObject, StackTrait::CopiesTensor]
            .into_iter()
            .all(|copies| self.has(copies))
    }
}
