//! What stacks and events say: each stack is read once for a file, and the order of events once for a device.

mod acts;
mod announced;
mod calls;
mod declared;
pub(super) mod first_blocks;
#[cfg(test)]
pub(crate) mod fixture;
mod fold;
mod inputs;
mod known;
mod place;
mod spans;
mod steps;

use super::UserRules;
use super::category::Category;
use crate::model::{DeviceId, Snapshot, Timeline};
pub(in crate::analysis) use acts::{Act, Acts, Run};
pub(in crate::analysis) use announced::{Announced, Work};
pub(in crate::analysis) use calls::Call;
pub(in crate::analysis) use declared::Labels;
pub(in crate::analysis) use place::{Part, Place, Places};
use std::sync::{Arc, OnceLock};

/// What all devices of a file share.
#[derive(Debug)]
pub struct Facts {
    /// What each stack says.
    pub(in crate::analysis) places: Arc<Places>,
    /// What the user's rules say of each stack.
    pub(in crate::analysis) user_labels: Vec<Option<Category>>,
    /// What went on on each device; read when it is asked for.
    flows: Vec<(DeviceId, OnceLock<Flow>)>,
    /// The same for a timeline that is none of the file's.
    other: OnceLock<Flow>,
}

impl Facts {
    /// Read the stacks of a file.
    pub fn of(snapshot: &Snapshot, rules: &UserRules) -> Self {
        Self {
            places: Arc::new(Places::of(snapshot)),
            user_labels: rules.of_stacks(snapshot),
            flows: snapshot.timelines.iter().map(|timeline| (timeline.device, OnceLock::new())).collect(),
            other: OnceLock::new(),
        }
    }

    /// What went on on a device.
    pub(in crate::analysis) fn flow(&self, timeline: &Timeline) -> &Flow {
        let of_device = self.flows.iter().find(|(device, _)| *device == timeline.device);
        of_device.map_or(&self.other, |(_, flow)| flow).get_or_init(|| Flow::of(timeline, &self.places))
    }
}

/// The activities of one device.
#[derive(Debug)]
pub(in crate::analysis) struct Flow {
    /// At each event.
    pub(in crate::analysis) acts: Acts,
    /// Calls of models.
    pub(in crate::analysis) calls: Vec<Call>,
    /// Which stacks bring the inputs of calls.
    pub(in crate::analysis) inputs: inputs::Inputs,
    /// Where optimizers step, by the backwards that they come after.
    pub(in crate::analysis) steps: steps::Steps,
    /// From where to where optimizers step.
    pub(in crate::analysis) step_spans: spans::Spans,
    /// From where to where backwards last.
    pub(in crate::analysis) backward_spans: spans::Spans,
}

impl Flow {
    /// Follow a timeline.
    fn of(timeline: &Timeline, places: &Places) -> Self {
        let acts = Acts::of(timeline, places);
        let mut calls = calls::find(timeline, places, &acts);
        let inputs = inputs::Inputs::of(timeline, &acts, &calls);
        let is_fed = inputs.fed(timeline, &acts, &calls);
        calls::decide(&mut calls, &is_fed);
        let steps = steps::steps(timeline, places, &acts);
        let [step_spans, backward_spans] =
            [Act::Step, Act::Backward].map(|act| spans::Spans::of(&acts.runs, act));
        Self { acts, calls, inputs, steps, step_spans, backward_spans }
    }

    /// The call that an event lies in.
    pub(in crate::analysis) fn call_at(&self, event: u32) -> Option<&Call> {
        let after = self.calls.partition_point(|call| call.start <= event);
        self.calls.get(after.checked_sub(1)?).filter(|call| event < call.end)
    }
}
