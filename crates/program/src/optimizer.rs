//! The state and the temporaries of a program's optimizers.

use super::run::{Run, StackSet};
use oomscope_analysis::{Category, FrameCode, Phase, UnseenStacks};
use oomscope_model::{AllocId, FrameId, OomEvent, StackId};
use std::collections::BTreeMap;

/// State of at most this many bytes is a count of steps, not a tensor for a parameter.
pub const COUNTER_BYTES: u64 = 8;

/// An optimizer keeps at most this many tensors for a parameter; Adam has three with `amsgrad`.
const MAX_STATES: u64 = 4;

/// How Adam computes a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdamStep {
    /// On all parameters at once, with a temporary for each.
    Foreach,
    /// On one parameter after the other.
    ForLoop,
    /// In one kernel, without temporaries, or in a way that the recording does not show.
    Other,
}

/// What the optimizers of a program allocate.
#[derive(Debug)]
pub struct OptimizerFacts {
    /// State, which is kept from step to step.
    pub state: Vec<AllocId>,
    /// What is needed only within a step.
    pub temporaries: Vec<AllocId>,
    /// The requests of a step that failed.
    pub failed: Vec<OomEvent>,
    /// How Adam of torch, with either kind of weight decay, computes its step; `None` if no such optimizer shows.
    pub adam: Option<AdamStep>,
    /// Whether torch's SGD shows.
    pub is_sgd: bool,
}

impl OptimizerFacts {
    /// Look at a recording.
    pub fn of(run: &Run<'_>) -> Self {
        let in_step = in_optimizer(run);
        let (mut state, mut temporaries) = (Vec::new(), Vec::new());
        for id in run.recording.ids() {
            match run.category(id) {
                Category::OptimizerState => state.push(id),
                Category::Temporary if is_in_step(run, &in_step, id) => temporaries.push(id),
                _ => {}
            }
        }
        let any =
            |ids: &[AllocId], stacks: &StackSet| ids.iter().any(|&id| stacks.has(run.recording.stack(id)));
        let is_adam = any(&state, &of_file(run, &["adam.py", "adamw.py"]));
        let failed: Vec<OomEvent> =
            run.recording.ooms.iter().copied().filter(|oom| in_step.has(stack_of(run, oom))).collect();
        let by = |function: &str| {
            let stacks = run.stacks_with(|code| code.is_of_adam(function));
            any(&temporaries, &stacks) || failed.iter().any(|oom| stacks.has(stack_of(run, oom)))
        };
        let adam = is_adam.then(|| match (by("_multi_tensor_adam"), by("_single_tensor_adam")) {
            (true, false) => AdamStep::Foreach,
            (false, true) => AdamStep::ForLoop,
            _ => AdamStep::Other,
        });
        let is_sgd = any(&state, &of_file(run, &["sgd.py"]));
        Self { state, temporaries, failed, adam, is_sgd }
    }

    /// The state without one tensor of each parameter: what an optimizer with one tensor does not have. `None` if it is
    /// not known how many tensors each parameter has.
    pub fn beyond_one(&self, run: &Run<'_>) -> Option<Vec<AllocId>> {
        let (counters, tensors): (Vec<AllocId>, Vec<AllocId>) =
            self.state.iter().partition(|&&id| run.bytes(id) <= COUNTER_BYTES);
        let mut out = counters;
        let frames = optimizer_frames(run);
        let frame_of = |id: AllocId| frames.get(run.recording.stack(id).index()).copied().flatten();
        let (seen, unseen): (Vec<AllocId>, Vec<AllocId>) =
            tensors.iter().partition(|&&id| frame_of(id).is_some());
        let states = if seen.is_empty() {
            states_by_size(run, &unseen)?
        } else {
            let states = states_by_frame(run, seen.iter().filter_map(|&id| Some((frame_of(id)?, id))))?;
            let first = seen.first().and_then(|&id| frame_of(id));
            out.extend(seen.iter().filter(|&&id| frame_of(id) != first));
            states
        };
        // Tensors without a stack have the size of their parameter, and come in turns.
        let mut count_of_size: BTreeMap<u64, u64> = BTreeMap::new();
        for id in unseen {
            let count = count_of_size.entry(run.bytes(id)).or_default();
            if !count.is_multiple_of(states) {
                out.push(id);
            }
            *count += 1;
        }
        Some(out)
    }
}

fn stack_of(run: &Run<'_>, oom: &OomEvent) -> StackId {
    run.recording.events.stack(oom.event)
}

/// How many tensors each parameter has, by the lines of the optimizer that make them: each line makes one for every
/// parameter.
fn states_by_frame(run: &Run<'_>, made: impl Iterator<Item = (FrameId, AllocId)>) -> Option<u64> {
    let mut by_frame: BTreeMap<FrameId, u64> = BTreeMap::new();
    for (frame, id) in made {
        let bytes = by_frame.entry(frame).or_default();
        *bytes = bytes.saturating_add(run.bytes(id));
    }
    let bytes = *by_frame.values().next()?;
    let are_equal = by_frame.values().all(|&other| other == bytes);
    let states = by_frame.len() as u64;
    (are_equal && states <= MAX_STATES).then_some(states)
}

/// How many tensors each parameter has, where only sizes tell: the same number of every size, in relation to parameters.
fn states_by_size(run: &Run<'_>, tensors: &[AllocId]) -> Option<u64> {
    let mut counts: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
    for &id in tensors {
        counts.entry(run.bytes(id)).or_default()[0] += 1;
    }
    for id in run.of_category(Category::Parameter) {
        if let Some(count) = counts.get_mut(&run.bytes(id)) {
            count[1] += 1;
        }
    }
    let ratios = counts.values().map(|&[state, parameters]| {
        (parameters != 0 && state.is_multiple_of(parameters)).then(|| state / parameters)
    });
    let ratios: Vec<Option<u64>> = ratios.collect();
    let first = ratios.first().copied().flatten()?;
    (ratios.iter().all(|&ratio| ratio == Some(first)) && (1..=MAX_STATES).contains(&first)).then_some(first)
}

/// The innermost frame of each stack that lies in an optimizer of torch.
fn optimizer_frames(run: &Run<'_>) -> Vec<Option<FrameId>> {
    run.first_frames(|code| code.torch_optimizer().is_some())
}

/// Whether a temporary belongs to an optimizer's step: its stack says so or, where nothing has stacks, its phase.
fn is_in_step(run: &Run<'_>, in_step: &StackSet, id: AllocId) -> bool {
    if run.recording.snapshot().frames.is_empty() {
        return run.attribution.phases.phase_at(run.recording.lifetimes.start(id)) == Phase::Optimizer;
    }
    let stack = run.recording.stack(id);
    in_step.has(stack) || stack == UnseenStacks::behind(run.recording.snapshot()).step
}

/// The stacks in a step of an optimizer: one of torch, or one that is derived from its base class, whose wrapper shows. A
/// closure that the step calls is not part of it.
fn in_optimizer(run: &Run<'_>) -> StackSet {
    let is_step = |code: FrameCode<'_>| code.is_of_torch_optim() && code.function != "zero_grad";
    run.stacks_with_before(is_step, |code| code.is_within_closure())
}

/// The stacks through some files of torch's optimizers.
fn of_file(run: &Run<'_>, names: &[&str]) -> StackSet {
    run.stacks_with(|code| code.torch_optimizer().is_some_and(|name| names.contains(&name)))
}
