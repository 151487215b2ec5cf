//! From activities to phases, and the marks between which iterations lie.

use super::{Phase, PhaseStart};
use crate::analysis::attribution::facts::{Act, Call, Flow, Places, Run};
use crate::model::{AllocId, EventIx, Moment, Timeline};

/// A call of a model, and where its data began.
pub(super) struct Begin {
    pub(super) event: u32,
    pub(super) from: u32,
    pub(super) caller: u32,
    pub(super) trains: bool,
}

/// Follows the activities of a device.
pub(super) struct Walk<'a> {
    timeline: &'a Timeline,
    places: &'a Places,
    flow: &'a Flow,
    phase: Phase,
    pub(super) phases: Vec<PhaseStart>,
    pub(super) begins: Vec<Begin>,
    /// Where the data phase began that is under way.
    data_from: Option<u32>,
}

pub(super) fn walk<'a>(timeline: &'a Timeline, places: &'a Places, flow: &'a Flow) -> Walk<'a> {
    let is_late = timeline.lifetimes.initial_count() != 0 || !flow.acts.has_stacks;
    let first = if is_late { Phase::Unknown } else { Phase::Init };
    let mut walk = Walk {
        timeline,
        places,
        flow,
        phase: first,
        phases: Vec::new(),
        begins: Vec::new(),
        data_from: None,
    };
    walk.phases.push(PhaseStart { event: EventIx(0), phase: first });
    for run in &flow.acts.runs {
        walk.run(run);
    }
    walk
}

impl Walk<'_> {
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

    fn run(&mut self, run: &Run) {
        match run.act {
            Act::Nothing | Act::Aside => {}
            Act::Call => self.call(run),
            Act::Backward => self.enter(run.start, Phase::Backward),
            Act::Step => self.enter(run.start, Phase::Optimizer),
            Act::Gradients | Act::Main | Act::Data => {
                if matches!(self.phase, Phase::Backward) {
                    self.enter(run.start, Phase::Optimizer);
                }
                if matches!(self.phase, Phase::Unknown) && run.act == Act::Gradients {
                    self.enter(run.start, Phase::Optimizer);
                }
                if run.act != Act::Gradients
                    && self.phase != Phase::Forward
                    && let Some(event) = self.first_input(run).or_else(|| self.first_kept(run))
                {
                    self.enter(event, Phase::Data);
                    self.data_from.get_or_insert(event);
                }
            }
        }
    }

    fn call(&mut self, run: &Run) {
        let Some(call) = self.flow.call_at(run.start).copied() else { return };
        if call.start == run.start {
            let from = self.data_from.unwrap_or(run.start);
            self.begins.push(Begin { event: run.start, from, caller: run.caller, trains: call.trains });
        }
        self.enter(run.start, if call.trains { Phase::Forward } else { Phase::Eval });
    }

    /// The first event of a run that allocates what the next call is given.
    fn first_input(&self, run: &Run) -> Option<u32> {
        let lifetimes = &self.timeline.lifetimes;
        let next = self.flow.calls.get(self.flow.calls.partition_point(|call| call.start < run.start));
        let first = lifetimes.first_after(Moment(run.start))?;
        (first.0..lifetimes.len() as u32)
            .map(AllocId)
            .map_while(|id| {
                let event = lifetimes.start(id).event().filter(|event| event.0 < run.end)?;
                Some((id, event))
            })
            .find(|&(id, event)| {
                let gone = lifetimes.requested(id).or(lifetimes.end(id));
                let waits = gone.is_none_or(|gone| next.is_some_and(|next: &Call| next.start < gone.0));
                let stack = self.timeline.events.stack(event);
                let habit = self.flow.inputs.is_input(stack);
                waits
                    && self.flow.inputs.comes_first(stack)
                    // What no call follows yet is for the next.
                    && habit.unwrap_or_else(|| next.is_none_or(|next| self.is_just_before(run, next.start)))
            })
            .map(|(_, event)| event.0)
    }

    /// Where no model is called at all: the first event of a run that allocates what stays for a while, other than
    /// weights.
    fn first_kept(&self, run: &Run) -> Option<u32> {
        let may_follow_a_call = self.phase == Phase::Unknown && self.places.show_torch();
        if !self.flow.calls.is_empty() || self.places.is_compiled || may_follow_a_call {
            return None;
        }
        let lifetimes = &self.timeline.lifetimes;
        let first = lifetimes.first_after(Moment(run.start))?;
        (first.0..lifetimes.len() as u32)
            .map(AllocId)
            .map_while(|id| Some((id, lifetimes.start(id).event().filter(|event| event.0 < run.end)?)))
            .find(|&(id, event)| {
                let place = self.places.get(self.timeline.events.stack(event));
                let is_made = place.in_init || place.for_weights || place.on_set_device;
                let gone = lifetimes.requested(id).or(lifetimes.end(id));
                !is_made && gone.is_none_or(|gone| run.end < gone.0)
            })
            .map(|(_, event)| event.0)
    }

    /// Whether nothing else happens between a run and the call that follows.
    fn is_just_before(&self, run: &Run, call: u32) -> bool {
        let runs = &self.flow.acts.runs;
        let after = runs.partition_point(|other| other.start <= run.start);
        runs[after..]
            .iter()
            .take_while(|other| other.start < call)
            .all(|other| matches!(other.act, Act::Main | Act::Data | Act::Nothing))
    }
}
