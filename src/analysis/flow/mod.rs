//! What the program was doing: read from stacks, each looked at once, and from the order of events.

mod acts;
mod calls;
mod distributed;
#[cfg(test)]
pub(crate) mod fixture;
mod fold;
mod hint;
mod inputs;
mod known;
mod optimizer;
mod place;
mod role;
mod steps;

use crate::model::Timeline;
pub(in crate::analysis) use acts::{Act, Acts, Run};
pub(in crate::analysis) use calls::Call;
pub(in crate::analysis) use optimizer::Optimizer;
pub(in crate::analysis) use place::{Part, Place, Places};

/// The activities of one device.
#[derive(Debug)]
pub(in crate::analysis) struct Flow {
    /// At each event.
    pub(in crate::analysis) acts: Acts,
    /// Calls of models.
    pub(in crate::analysis) calls: Vec<Call>,
    /// Which stacks bring the inputs of calls.
    pub(in crate::analysis) inputs: inputs::Inputs,
    /// Where optimizers step.
    pub(in crate::analysis) steps: steps::Steps,
}

impl Flow {
    /// Follow a timeline.
    pub(in crate::analysis) fn of(timeline: &Timeline, places: &Places) -> Self {
        let acts = Acts::of(timeline, places);
        let mut calls = calls::find(timeline, places, &acts);
        let inputs = inputs::Inputs::of(timeline, &acts, &calls);
        let is_fed = inputs.fed(timeline, &acts, &calls);
        calls::decide(&mut calls, &is_fed);
        let steps = steps::steps(timeline, places, &acts);
        Self { acts, calls, inputs, steps }
    }

    /// The call that an event lies in.
    pub(in crate::analysis) fn call_at(&self, event: u32) -> Option<&Call> {
        let after = self.calls.partition_point(|call| call.start <= event);
        self.calls.get(after.checked_sub(1)?).filter(|call| event < call.end)
    }
}
