//! Phases from activities, and the calls from which iterations may start.

use super::phase::{Phase, PhaseStart};
use crate::attribution::facts::{Activity, Announced, DeviceFacts, FactsByStack, Run, StackTrait};
use oomscope_model::{EventIx, StackId, Timeline};

/// The start of a model's call.
#[derive(Clone, Copy)]
pub(super) struct CallStart {
    /// Its first event.
    pub(super) event: u32,
    /// The first event of its data; the same where none are seen.
    pub(super) from: u32,
    /// A number that stands for the lines that call.
    pub(super) caller: u32,
    /// Whether it trains.
    pub(super) trains: bool,
    /// Whether it goes on with a model that a function of the program's own puts together.
    pub(super) is_part: bool,
}

/// The phases and the calls of a device, as its stacks show them.
pub(super) fn build_phases(
    timeline: &Timeline,
    stacks: &FactsByStack,
    device: &DeviceFacts,
    announced: &Announced,
) -> (Vec<PhaseStart>, Vec<CallStart>) {
    let is_late = timeline.lifetimes.initial_count() != 0 || !device.activities.has_stacks;
    let phase = if is_late { Phase::Unknown } else { Phase::Init };
    let phases = vec![PhaseStart { event: EventIx(0), phase }];
    let has_optimizer = stacks.show_optimizer() || !announced.steps.is_empty() || device.writes_parameters;
    let after_backward = if has_optimizer { Phase::Optimizer } else { Phase::Unknown };
    let mut builder = PhaseBuilder {
        timeline,
        stacks,
        device,
        after_backward,
        phase,
        phases,
        calls: Vec::new(),
        data_from: None,
    };
    for run in &device.activities.runs {
        builder.add_run(run);
    }
    (builder.phases, builder.calls)
}

struct PhaseBuilder<'a> {
    timeline: &'a Timeline,
    stacks: &'a FactsByStack,
    device: &'a DeviceFacts,
    /// The phase of what the program's own code does after a backward: the optimizer's, if there is one.
    after_backward: Phase,
    /// The phase that is under way.
    phase: Phase,
    phases: Vec<PhaseStart>,
    calls: Vec<CallStart>,
    /// The first event of the data phase that is under way.
    data_from: Option<u32>,
}

impl PhaseBuilder<'_> {
    fn enter(&mut self, event: u32, phase: Phase) {
        if self.phase == phase {
            return;
        }
        self.phase = phase;
        if self.phases.last().is_some_and(|last| last.event.0 == event) {
            self.phases.pop();
        }
        if self.phases.last().is_none_or(|last| last.phase != phase) {
            self.phases.push(PhaseStart { event: EventIx(event), phase });
        }
        if phase != Phase::Data {
            self.data_from = None;
        }
    }

    fn add_run(&mut self, run: &Run) {
        match run.activity {
            Activity::Nothing | Activity::Aside => {}
            Activity::Call => self.add_call(run),
            Activity::Backward => self.enter(run.start, Phase::Backward),
            Activity::Step => self.enter(run.start, Phase::Optimizer),
            Activity::Gradients => {
                if matches!(self.phase, Phase::Backward | Phase::Unknown) {
                    self.enter(run.start, Phase::Optimizer);
                }
            }
            Activity::Main | Activity::Data => {
                if self.phase == Phase::Backward {
                    self.enter(run.start, self.after_backward);
                }
                // After a forward, the program's own code computes the loss.
                if self.phase != Phase::Forward
                    && let Some(event) = self.first_input(run).or_else(|| self.first_kept(run))
                {
                    self.enter(event, Phase::Data);
                    self.data_from.get_or_insert(event);
                }
            }
        }
    }

    fn add_call(&mut self, run: &Run) {
        let Some(call) = self.device.call_at(run.start).copied() else { return };
        if call.start == run.start {
            let from = self.data_from.unwrap_or(run.start);
            let (caller, is_part) = (run.caller, self.device.parts.contains(&run.start));
            self.calls.push(CallStart { event: run.start, from, caller, trains: call.trains, is_part });
        }
        self.enter(run.start, if call.trains { Phase::Forward } else { Phase::Eval });
    }

    /// The first event of a run that allocates an input of the next call.
    fn first_input(&self, run: &Run) -> Option<u32> {
        let calls = &self.device.calls;
        let next = calls.get(calls.partition_point(|call| call.start < run.start)).map(|call| call.start);
        let input = run.allocations(self.timeline).find(|&(id, event)| {
            let freed = self.timeline.lifetimes.gone(id);
            let is_live_at_call = freed.is_none_or(|freed| next.is_some_and(|next| next < freed.0));
            is_live_at_call && self.may_be_input(run, self.timeline.events.stack(event), next)
        });
        input.map(|(_, event)| event.0)
    }

    /// Whether a stack makes inputs, as far as it is known. What no call follows yet is for the next.
    fn may_be_input(&self, run: &Run, stack: StackId, next_call: Option<u32>) -> bool {
        let inputs = &self.device.inputs;
        let is_just_before = || next_call.is_none_or(|next| self.is_just_before(run, next));
        inputs.precedes_first_by_code(stack) && inputs.makes_inputs(stack).unwrap_or_else(is_just_before)
    }

    /// The first event of a run that allocates something other than weights that stays for a while; asked only where no
    /// model is called at all.
    fn first_kept(&self, run: &Run) -> Option<u32> {
        let may_follow_a_call = self.phase == Phase::Unknown && self.stacks.show_torch();
        if !self.device.calls.is_empty() || self.stacks.is_compiled || may_follow_a_call {
            return None;
        }
        let kept = run.allocations(self.timeline).find(|&(id, event)| {
            let facts = self.stacks.get(self.timeline.events.stack(event));
            let makes_weights = [StackTrait::InInit, StackTrait::MakesWeights, StackTrait::InitOnDevice]
                .into_iter()
                .any(|weights| facts.has(weights));
            let freed = self.timeline.lifetimes.gone(id);
            !makes_weights && freed.is_none_or(|freed| run.end < freed.0)
        });
        kept.map(|(_, event)| event.0)
    }

    /// Whether nothing else happens between a run and the call that follows.
    fn is_just_before(&self, run: &Run, call: u32) -> bool {
        let runs = &self.device.activities.runs;
        let after = runs.partition_point(|other| other.start <= run.start);
        runs[after..]
            .iter()
            .take_while(|other| other.start < call)
            .all(|other| matches!(other.activity, Activity::Main | Activity::Data | Activity::Nothing))
    }
}
