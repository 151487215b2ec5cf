//! The part of the structure that only categories show: numbers of iterations, and the phase of the dump.

use super::live_memory::LiveMemory;
use super::number_from_announcements::number_from_announcements;
use super::number_from_first_step::number_from_first_step;
use super::phases::Phases;
use super::steps_before_recording::note_steps_before_recording;
use crate::analysis::attribution::Categories;
use crate::analysis::attribution::facts::{Announced, Facts};
use crate::model::{DeviceId, Timeline};

/// Complete phases and iterations with what the categories show.
pub(in crate::analysis::attribution) fn complete_after_rules(
    phases: &mut Phases,
    timeline: &Timeline,
    facts: &Facts,
    announced: &Announced,
    categories: &Categories,
) {
    if timeline.device == DeviceId::HOST {
        // Pinned memory of the host holds batches, which do not show what a device is doing.
        phases.clear();
        return;
    }
    // Announcements are surer than the first step that is seen, which is asked only where they give no number. Both
    // need to know whether an optimizer had stepped before.
    note_steps_before_recording(phases, timeline, &facts.stacks, categories);
    number_from_announcements(phases, timeline, announced, categories);
    let device = facts.of_device(timeline);
    let announced_ends = announced.ends();
    let steps = if device.activities.has_stacks { &device.steps.all } else { &announced_ends };
    number_from_first_step(phases, timeline, steps, categories);
    phases.add_phase_at_end(|| LiveMemory::of(timeline, &facts.stacks, categories).phase());
}
