//! More optimizer state than one optimizer keeps for the parameters that are there, and state that no step uses any more.

use super::place::{places, sum};
use crate::assessment::Assessment;
use crate::case::Case;
use crate::figure;
use crate::finding::Finding;
use crate::findings::FindingId;
use crate::sentence::say;
use foldhash::HashMap;
use oomscope_analysis::{Category, FrameKey, Phase};
use oomscope_model::{Allocation, Bytes, EventIx, Moment, StackId};
use oomscope_program::share::WORTH;
use std::collections::BTreeMap;

/// State is unused after this many times as many backward passes as ever came between two of its steps.
const IDLE_FACTOR: usize = 2;

/// The state that one own path made: that of one optimizer, as far as the program's lines tell.
#[derive(Default)]
struct State<'a> {
    blocks: Vec<&'a Allocation>,
    /// Number of blocks by the line of the optimizer that made them, and by size.
    by_line: BTreeMap<(FrameKey, Bytes), i64>,
}

impl<'a> State<'a> {
    fn add(&mut self, line: FrameKey, a: &'a Allocation) {
        self.blocks.push(a);
        *self.by_line.entry((line, a.size)).or_default() += 1;
    }

    /// For how many parameters of each size there is state: every line of an optimizer makes one block for each.
    fn covered(&self) -> BTreeMap<Bytes, i64> {
        let mut covered: BTreeMap<Bytes, i64> = BTreeMap::new();
        for (&(_, size), &count) in &self.by_line {
            let most = covered.entry(size).or_default();
            *most = count.max(*most);
        }
        covered
    }
}

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    // Optimizers that each round leaves behind are the verdict.
    if assessment.is_leak() {
        return Vec::new();
    }
    let live = assessment.in_use(Category::OptimizerState);
    let mut states: BTreeMap<Vec<FrameKey>, State<'_>> = BTreeMap::new();
    for a in live {
        let Some(line) = case.code.optimizer_line(a.stack) else { continue };
        states.entry(case.code.own_path(a.stack)).or_default().add(line, a);
    }
    // The path of a step that was recorded without any line of the program's own stands for no optimizer.
    states.remove(&Vec::new());
    let unused = if states.len() < 2 { None } else { unused(case, &states) };
    unused.or_else(|| several(case, &states)).into_iter().collect()
}

/// The state that each step made, of one optimizer or more.
fn by_step<'a>(case: &Case<'_>, states: &BTreeMap<Vec<FrameKey>, State<'a>>) -> Vec<State<'a>> {
    let phases = &case.phases().phases;
    let mut by_step: BTreeMap<(usize, Option<usize>), State<'a>> = BTreeMap::new();
    for (path, state) in states.values().enumerate() {
        for &a in &state.blocks {
            let Some(line) = case.code.optimizer_line(a.stack) else { continue };
            let step = a.alloc_event().map(|event| phases.partition_point(|start| start.event <= event));
            by_step.entry((path, step)).or_default().add(line, a);
        }
    }
    by_step.into_values().collect()
}

/// State of an optimizer that has not stepped for a while, although others of its blocks show when it did.
fn unused(case: &Case<'_>, states: &BTreeMap<Vec<FrameKey>, State<'_>>) -> Option<Finding> {
    let steps = steps(case);
    let latest_other_call = latest_other_call(case, states, &steps);
    let backwards: Vec<EventIx> = case.starts_of(Phase::Backward).collect();
    let count_until = |event: EventIx| backwards.partition_point(|&backward| backward < event);
    let is_idle = |path: &Vec<FrameKey>| {
        let Some(own) = steps.get(path).filter(|steps| 2 <= steps.len()) else { return false };
        // After its last step, it may have been called from elsewhere.
        if own.last() < latest_other_call.as_ref() {
            return false;
        }
        let counts: Vec<usize> = own.iter().map(|&step| count_until(step)).collect();
        let longest = counts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let idle = backwards.len() - counts.last().copied().unwrap_or(backwards.len());
        longest.max(1) * IDLE_FACTOR <= idle
    };
    let idle = states.iter().filter(|(path, _)| is_idle(path));
    let blocks: Vec<&Allocation> = idle.flat_map(|(_, state)| state.blocks.iter().copied()).collect();
    let bytes = sum(&blocks);
    if !WORTH.is_reached(bytes, case.live_bytes()) || blocks.is_empty() {
        return None;
    }
    let held = figure::bytes(bytes).of(case.live_bytes());
    let title = say!("{} of optimizer state belong to an optimizer that does not step any more", held);
    let mut finding = Finding::new(FindingId::UnusedOptimizerState, case.severity_of(bytes), title);
    finding.explain("Its last step is several backward passes ago, while the program goes on training in another way: an optimizer of an earlier stage is still referenced, as by a variable, a scheduler or a list of stages.");
    finding.evidence.part("unused_state_bytes", "state of the idle optimizer", bytes, case.live_bytes());
    places(&mut finding, case, &blocks);
    finding.advise_code(
        "Let go of it, and of its scheduler, before the next stage begins:",
        "del optimizer, scheduler\n# or optimizer.state.clear()",
    );
    finding.weighs(bytes);
    finding.limit("Whether the optimizer is going to step again is not in the recording.");
    Some(finding)
}

/// The latest first step of a path that made no state: its optimizer had stepped before, by another path.
fn latest_other_call(
    case: &Case<'_>,
    states: &BTreeMap<Vec<FrameKey>, State<'_>>,
    steps: &HashMap<Vec<FrameKey>, Vec<EventIx>>,
) -> Option<EventIx> {
    let phases = &case.phases().phases;
    let phase_of = |event: EventIx| phases.partition_point(|start| start.event <= event);
    let made_state = |path: &Vec<FrameKey>, step: EventIx| {
        let blocks = states.get(path).into_iter().flat_map(|state| &state.blocks);
        blocks.filter_map(|a| a.alloc_event()).any(|event| phase_of(event) == phase_of(step))
    };
    let firsts = steps.iter().filter_map(|(path, steps)| steps.first().map(|&first| (path, first)));
    firsts.filter(|(path, first)| !made_state(path, *first)).map(|(_, first)| first).max()
}

/// The steps of each path, as far as they allocate, by the events of their first allocations.
fn steps(case: &Case<'_>) -> HashMap<Vec<FrameKey>, Vec<EventIx>> {
    let timeline = case.recording.timeline();
    let phases = &case.phases().phases;
    let mut by_stack: HashMap<StackId, Option<Vec<FrameKey>>> = HashMap::default();
    let mut steps: HashMap<Vec<FrameKey>, Vec<(usize, EventIx)>> = HashMap::default();
    let mut at = 0;
    for id in timeline.ids() {
        let Some(event) = timeline.lifetimes.start(id).event() else { continue };
        if case.moment < Moment::after(event) {
            break;
        }
        while phases.get(at + 1).is_some_and(|next| next.event <= event) {
            at += 1;
        }
        if phases.get(at).is_none_or(|start| start.phase != Phase::Optimizer) {
            continue;
        }
        let stack = timeline.stack(id);
        let path = by_stack
            .entry(stack)
            .or_insert_with(|| case.code.optimizer_line(stack).map(|_| case.code.own_path(stack)));
        if let Some(path) = path {
            let steps = steps.entry(path.clone()).or_default();
            if steps.last().is_none_or(|&(last, _)| last != at) {
                steps.push((at, event));
            }
        }
    }
    steps
        .into_iter()
        .map(|(path, steps)| (path, steps.into_iter().map(|(_, event)| event).collect()))
        .collect()
}

/// State for more parameters than there are.
fn several(case: &Case<'_>, states: &BTreeMap<Vec<FrameKey>, State<'_>>) -> Option<Finding> {
    let parameters = case.sizes(case.live_of(Category::Parameter));
    let states = by_step(case, states);
    let mut covered: BTreeMap<Bytes, i64> = BTreeMap::new();
    for (size, count) in states.iter().flat_map(State::covered) {
        *covered.entry(size).or_default() += count;
    }
    let is_surplus = |size: Bytes| {
        let has = i64::from(parameters.count(size.unsigned_abs()));
        0 < has && has < covered.get(&size).copied().unwrap_or(0)
    };
    let doubled = |state: &State<'_>| {
        let blocks = state.blocks.iter().filter(|a| is_surplus(a.size));
        blocks.map(|a| a.size).sum::<Bytes>()
    };
    // Of the optimizers that share parameters, one is needed.
    let mut shared: Vec<(Bytes, &State<'_>)> =
        states.iter().map(|state| (doubled(state), state)).filter(|&(bytes, _)| 0 < bytes).collect();
    shared.sort_by_key(|&(bytes, _)| bytes);
    shared.pop()?;
    let bytes = shared.iter().map(|&(bytes, _)| bytes).sum::<Bytes>();
    if !WORTH.is_reached(bytes, case.live_bytes()) || shared.is_empty() {
        return None;
    }
    let title = say!(
        "{} optimizers keep state for the same parameters; the smaller part is {}",
        figure::count(shared.len() + 1),
        figure::bytes(bytes).of(case.live_bytes())
    );
    let mut finding = Finding::new(FindingId::TwoOptimizers, case.severity_of(bytes), title);
    finding.explain("There is state for more parameters than the device has, by their sizes, and different steps made it.");
    finding.evidence.part("second_state_bytes", "state of all but the largest", bytes, case.live_bytes());
    let blocks: Vec<&Allocation> =
        shared.iter().flat_map(|(_, state)| state.blocks.iter().copied()).collect();
    places(&mut finding, case, &blocks);
    finding.advise_code(
        "Let one optimizer step all parameters, with a group for each setting, and let go of those of earlier stages:",
        "optimizer = torch.optim.AdamW([{\"params\": body, \"lr\": 1e-5}, {\"params\": head, \"lr\": 1e-3}])\ndel warmup_optimizer",
    );
    finding.weighs(bytes);
    finding.limit("Which parameter state belongs to is told from sizes alone.");
    Some(finding)
}
