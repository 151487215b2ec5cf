//! The facts about a file and its devices: what its stacks say, and, of each device, the order of its events.

use super::activities::{Activities, Activity};
use super::activity_spans::ActivitySpans;
use super::calls::{Call, decide_which_train, find_calls};
use super::facts_by_stack::FactsByStack;
use super::inputs::InputCode;
use super::parts_of_calls::parts_of_calls;
use super::steps::{OptimizerSteps, find_steps};
use super::written_parameters::writes_parameters;
use crate::attribution::{Category, UserRules};
use foldhash::HashSet;
use oomscope_model::{DeviceId, Snapshot, StackId, Timeline};
use std::sync::{Arc, OnceLock};

/// The facts about a file: about its stacks, and about each of its devices.
#[derive(Debug, Default)]
pub struct Facts {
    /// The facts about each stack.
    pub(crate) stacks: Arc<FactsByStack>,
    /// The category that the user's rules give to each stack.
    pub(crate) user_labels: Arc<Vec<Option<Category>>>,
    /// The facts about each device; read when they are asked for.
    devices: Vec<(DeviceId, OnceLock<DeviceFacts>)>,
    /// The facts about a timeline that is not one of the file's.
    other: OnceLock<DeviceFacts>,
}

impl Facts {
    /// Read the stacks of a file.
    pub fn of(snapshot: &Snapshot, rules: &UserRules) -> Self {
        Self {
            stacks: Arc::new(FactsByStack::of(snapshot)),
            user_labels: Arc::new(rules.of_stacks(snapshot)),
            devices: snapshot.timelines.iter().map(|timeline| (timeline.device, OnceLock::new())).collect(),
            other: OnceLock::new(),
        }
    }

    /// The same facts about stacks, for another timeline than those of the file.
    pub(crate) fn of_other(&self) -> Self {
        let (stacks, user_labels) = (Arc::clone(&self.stacks), Arc::clone(&self.user_labels));
        Self { stacks, user_labels, devices: Vec::new(), other: OnceLock::new() }
    }

    /// The same facts, and those about unseen stacks that go on from a stack, for another timeline than those of the file.
    pub(crate) fn of_continued(&self, from: StackId) -> Self {
        Self { stacks: Arc::new(self.stacks.with_unseen(from)), ..self.of_other() }
    }

    /// The facts about a device.
    pub(crate) fn of_device(&self, timeline: &Timeline) -> &DeviceFacts {
        let own = self.devices.iter().find(|(device, _)| *device == timeline.device);
        let slot = own.map_or(&self.other, |(_, facts)| facts);
        slot.get_or_init(|| DeviceFacts::of(timeline, &self.stacks))
    }
}

/// Activities of a device, and what follows from them.
#[derive(Debug)]
pub(crate) struct DeviceFacts {
    /// The activity at each event.
    pub(crate) activities: Activities,
    /// Calls of models.
    pub(crate) calls: Vec<Call>,
    /// The first events of calls that go on with a model which a function of the program's own puts together from modules.
    pub(crate) parts: HashSet<u32>,
    /// The code that makes the inputs of calls.
    pub(crate) inputs: InputCode,
    /// Optimizer steps, by the backwards that they come after.
    pub(crate) steps: OptimizerSteps,
    /// The spans in which optimizers step.
    pub(crate) step_spans: ActivitySpans,
    /// The spans in which backwards run.
    pub(crate) backward_spans: ActivitySpans,
    /// Whether the program's own code writes parameters after a backward, as an optimizer does.
    pub(crate) writes_parameters: bool,
}

impl DeviceFacts {
    /// Read a timeline.
    pub(super) fn of(timeline: &Timeline, stacks: &FactsByStack) -> Self {
        let activities = Activities::of(timeline, |stack| stacks.get(stack));
        // The order matters: the code that makes inputs shows in the calls that follow, and then helps to tell which of
        // them train.
        let mut calls = find_calls(timeline, stacks, &activities);
        let inputs = InputCode::of(timeline, &activities, &calls);
        let has_new_data = inputs.calls_with_new_data(timeline, &activities, &calls);
        decide_which_train(&mut calls, &has_new_data);
        let parts = parts_of_calls(&calls, &has_new_data, timeline, &activities);
        let steps = find_steps(timeline, stacks, &activities);
        let [step_spans, backward_spans] = [Activity::Step, Activity::Backward]
            .map(|activity| ActivitySpans::of(&activities.runs, activity));
        let writes_parameters = writes_parameters(timeline, stacks, &activities, &backward_spans);
        Self { activities, calls, parts, inputs, steps, step_spans, backward_spans, writes_parameters }
    }

    /// The call that an event lies in.
    pub(crate) fn call_at(&self, event: u32) -> Option<&Call> {
        let after = self.calls.partition_point(|call| call.start <= event);
        self.calls.get(after.checked_sub(1)?).filter(|call| event < call.end)
    }

    /// The first call that starts after an event.
    pub(crate) fn next_call(&self, event: u32) -> Option<&Call> {
        self.calls.get(self.calls.partition_point(|call| call.start <= event))
    }

    /// Whether any backward runs.
    pub(crate) fn has_backward(&self) -> bool {
        self.backward_spans.first_event().is_some()
    }
}
