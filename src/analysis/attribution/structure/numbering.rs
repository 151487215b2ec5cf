//! The last layer: what only categories show of the course of a program, which are the numbers of its iterations in a
//! late recording, and the phase of a dump that no event tells.

use super::course::Course;
use super::iterations::Numbers;
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
    /// The phases and iterations of a device: its course, and what the categories show besides.
    pub(in crate::analysis::attribution) fn of(
        course: Course,
        timeline: &Timeline,
        facts: &Facts,
        announced: &Announced,
        categories: &Categories,
    ) -> Self {
        if timeline.device == DeviceId::HOST {
            return Self::new(course, Numbers::default(), 0, None);
        }
        let steps_before = announced.steps.partition_point(|step| step.is_before);
        let numbers = numbers(&course, timeline, facts, announced, categories, steps_before);
        let is_open = course.phase_at(Moment(course.events)) == Phase::Unknown;
        let at_end = is_open.then(|| LiveMemory::of(timeline, &facts.stacks, categories).phase()).flatten();
        Self::new(course, numbers, steps_before, at_end)
    }
}

/// The numbers of iterations. Announcements are surer than the first step that is seen, which is asked only where no step
/// before it shows.
fn numbers(
    course: &Course,
    timeline: &Timeline,
    facts: &Facts,
    announced: &Announced,
    categories: &Categories,
    steps_before: usize,
) -> Numbers {
    let has_stepped = has_stepped_before(course, timeline, &facts.stacks, categories);
    let unnumbered = Numbers { ended_before: u32::from(has_stepped), ..Numbers::default() };
    if course.iterations.first_number.is_some() || timeline.device.0 < 0 {
        unnumbered
    } else if 0 < steps_before {
        number_from_announcements(course, timeline, announced, categories, steps_before, unnumbered)
    } else if has_stepped {
        unnumbered
    } else {
        let device = facts.of_device(timeline);
        let announced_ends = announced.ends();
        let steps = if device.activities.has_stacks { &device.steps.all } else { &announced_ends };
        number_from_first_step(&course.iterations, timeline, steps, categories).unwrap_or(unnumbered)
    }
}
