//! When a backward no longer needs the activations of the forward before it.

use crate::scene::Scene;
use foldhash::HashMap;
use oomscope_analysis::{Category, is_python};
use oomscope_model::{AllocId, EventIx, FrameId, Lifetimes, Moment, StackId};
use oomscope_simulator::Point;
use std::ops::Range;

/// The order in which a backward needs what was made before it.
///
/// What is made first is needed last, and time goes by the bytes that are made. What a layer makes that no backward needs
/// shows in other layers of its kind, whose like is freed in the forward.
#[derive(Debug)]
pub(super) struct BackwardOrder {
    forward: Range<u32>,
    backward: Range<u32>,
    /// Activations of the forward, by their starts, with the bytes of all up to each.
    activations: Vec<(u32, u128)>,
    /// Gradients of the backward, by their starts, with the bytes of all up to each.
    gradients: Vec<(u32, u128)>,
    /// For how many events activations are there that are freed within the forward, by their line and size.
    freed_early: HashMap<(FrameId, u64), u32>,
}

impl BackwardOrder {
    /// Look at a forward and its backward.
    pub(super) fn new(
        scene: &Scene<'_>,
        forward: Range<u32>,
        backward: Range<u32>,
        is_left: impl Fn(AllocId) -> bool,
    ) -> Self {
        let lifetimes = &scene.run.recording.lifetimes;
        let mut freed_early: HashMap<(FrameId, u64), u32> = HashMap::default();
        for id in made_in(lifetimes, &forward).filter(|&id| !is_left(id)) {
            let end = lifetimes.end(id).filter(|end| end.0 <= forward.end);
            if let Some((end, line)) = end.zip(line(scene, scene.run.recording.stack(id))) {
                let events = freed_early.entry((line, scene.run.bytes(id))).or_default();
                *events = (*events).max(end.0 - lifetimes.start(id).0);
            }
        }
        let activations = sums(scene, &forward, Category::Activation);
        let gradients = sums(scene, &backward, Category::Gradient);
        Self { forward, backward, activations, gradients, freed_early }
    }

    /// Whether this is about the backward that begins at an event, and something that was made before it.
    pub(super) fn is_of(&self, backward: u32, start: u32) -> bool {
        self.backward.start == backward && self.forward.contains(&start)
    }

    /// The point at which an activation is no longer needed.
    pub(super) fn freed(&self, scene: &Scene<'_>, id: AllocId) -> Point {
        let start = scene.run.recording.lifetimes.start(id).0;
        let line = line(scene, scene.run.recording.stack(id));
        let early = line.and_then(|line| self.freed_early.get(&(line, scene.run.bytes(id))));
        if let Some(events) = early {
            return Point::after(EventIx(start.saturating_add(*events)), 0);
        }
        let total = |sums: &[(u32, u128)]| sums.last().map_or(0, |&(_, sum)| sum);
        let all = total(&self.activations);
        let upto = self.activations.partition_point(|&(made, _)| made <= start);
        let before = upto.checked_sub(1).and_then(|at| self.activations.get(at)).map_or(0, |&(_, sum)| sum);
        let wanted = total(&self.gradients) * (all - before) / all.max(1);
        let reached = self.gradients.partition_point(|&(_, sum)| sum < wanted);
        let event = self.gradients.get(reached).map_or(self.backward.end, |&(made, _)| made);
        Point::after(EventIx(event.saturating_sub(1)), 0)
    }
}

fn made_in(lifetimes: &Lifetimes, events: &Range<u32>) -> impl Iterator<Item = AllocId> + use<> {
    lifetimes.started_between(Moment(events.start), Moment(events.end))
}

/// The allocations of a category within some events, with running sums of their bytes.
fn sums(scene: &Scene<'_>, events: &Range<u32>, category: Category) -> Vec<(u32, u128)> {
    let lifetimes = &scene.run.recording.lifetimes;
    let mut sum = 0;
    let of_category = made_in(lifetimes, events).filter(|&id| scene.run.category(id) == category);
    let running = of_category.map(|id| {
        sum += u128::from(scene.run.bytes(id));
        (lifetimes.start(id).0, sum)
    });
    running.collect()
}

/// The innermost Python frame of a stack: the line of a layer or of a function.
fn line(scene: &Scene<'_>, stack: StackId) -> Option<FrameId> {
    let mut frames = scene.run.recording.snapshot().stacks.frames(stack).iter().copied();
    let snapshot = scene.run.recording.snapshot();
    let tables = (&snapshot.frames, &snapshot.strings);
    frames.find(|&frame| is_python(&tables.1.path(tables.0.get(frame).file)))
}
