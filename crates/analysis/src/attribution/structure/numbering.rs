//! The last layer: what only categories show of the course of a program, which are the numbers of its iterations in a
//! late recording, and the phase of a dump that no event tells.

use super::live_memory::LiveMemory;
use super::number_from_announcements::number_from_announcements;
use super::number_from_first_step::number_from_first_step;
use super::phase::Phase;
use super::phases::Phases;
use crate::attribution::facts::{Announced, Facts, FactsByStack, StackTrait};
use crate::attribution::{Categories, Category, RuleId};
use oomscope_model::{Bytes, DeviceId, Moment, StackId, Timeline};

/// Rules that tell state from parameters by how many blocks of a size there are.
const COUNTING: [RuleId; 3] = [RuleId::OldPairs, RuleId::LiesLater, RuleId::PairsAndStays];

impl Phases {
    /// The same with what the categories show besides.
    pub(in crate::attribution) fn completed(
        mut self,
        timeline: &Timeline,
        facts: &Facts,
        announced: &Announced,
        categories: &Categories,
    ) -> Self {
        if timeline.device != DeviceId::HOST {
            self.number(timeline, facts, announced, categories);
            if self.of_event_before(Moment(self.events)) == Phase::Unknown {
                self.at_end = LiveMemory::of(timeline, &facts.stacks, categories).phase();
            }
        }
        self
    }

    /// Number the iterations. Announcements are surer than the first step that is seen, which is asked only where no step
    /// before it shows.
    fn number(&mut self, timeline: &Timeline, facts: &Facts, announced: &Announced, categories: &Categories) {
        let has_stepped = has_stepped_before(self, timeline, &facts.stacks, categories);
        self.iterations.ended_before = u32::from(has_stepped);
        if self.iterations.first_number.is_some() || timeline.device.0 < 0 {
            return;
        }
        if 0 < self.steps_before {
            number_from_announcements(self, timeline, announced, categories);
        } else if !has_stepped {
            let device = facts.of_device(timeline);
            let announced_ends = announced.ends();
            let steps = if device.activities.has_stacks { &device.steps.all } else { &announced_ends };
            number_from_first_step(&mut self.iterations, timeline, steps, categories);
        }
    }
}

/// Whether an optimizer stepped before the recording: if state that was made within a step was there already, or twice as much state as
/// there are parameters, where gradients tell which blocks these are. Once as much is not enough: some optimizers make one
/// state for each parameter when they are made themselves.
fn has_stepped_before(
    course: &Phases,
    timeline: &Timeline,
    stacks: &FactsByStack,
    categories: &Categories,
) -> bool {
    let lifetimes = &timeline.lifetimes;
    let (mut state_bytes, mut parameter_bytes) = (Bytes::ZERO, Bytes::ZERO);
    let mut is_made_in_step = false;
    for id in lifetimes.ids().take(lifetimes.initial_count()) {
        let size = timeline.size(id).or_zero();
        let stack = timeline.stack(id);
        let is_counted = stack == StackId::EMPTY && COUNTING.contains(&categories.rule(id));
        match categories.get(id) {
            Category::OptimizerState if is_counted => state_bytes += size,
            Category::OptimizerState => is_made_in_step |= stacks.get(stack).has(StackTrait::WithinStep),
            Category::Parameter if is_counted => parameter_bytes += size,
            _ => {}
        }
    }
    // Between announced steps, a backward is itself found by sizes.
    let has_seen_backward = !course.is_between_steps && course.has_backward();
    let has_two_states = 0 < parameter_bytes && parameter_bytes * 2 <= state_bytes;
    is_made_in_step || (has_seen_backward && has_two_states)
}
