//! The last layer: what only categories show of the course of a program, which are the numbers of its iterations in a
//! late recording, and the phase of a dump that no event tells.

use super::live_memory::LiveMemory;
use super::number_from_announcements::number_from_announcements;
use super::number_from_first_step::number_from_first_step;
use super::phase::Phase;
use super::phases::Phases;
use super::steps_before_recording::has_stepped_before;
use crate::analysis::attribution::Categories;
use crate::analysis::attribution::facts::{Announced, Facts};
use crate::model::{DeviceId, Moment, Timeline};

impl Phases {
    /// The same with what the categories show besides.
    pub(in crate::analysis::attribution) fn completed(
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
