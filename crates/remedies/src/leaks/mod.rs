//! Leaks. `detach`: what earlier iterations left behind is freed as it would be if nothing kept it.

mod backward_order;
mod leak;
mod more_left;

pub(super) use leak::Leak;

use super::offer::{Effort, Offer, Part};
use super::precondition::{Precondition, most};
use super::scene::Scene;
use backward_order::BackwardOrder;
use foldhash::{HashMap, HashSet};
use oomscope_analysis::{Category, Phase};
use oomscope_diagnosis::{LeftBehind, left_behind};
use oomscope_model::{AllocId, EventIx, Moment, SaturatingSum as _, StackId};
use oomscope_simulator::Point;
use std::ops::Range;

/// Less than one part in this many of the peak is no leak to speak of: every program keeps a loss or two.
const LEFT_PART: u64 = 100;

/// What earlier iterations left behind, where it is a leak to speak of; nothing otherwise.
fn left_by_leak(scene: &Scene<'_>) -> Vec<LeftBehind> {
    let mut left = left_behind(scene.workload());
    if !left.is_empty() {
        left.extend(more_left::outliving(scene, &left));
        left.sort_by_key(|left| left.id);
    }
    let left_bytes = left.iter().map(|left| scene.run.bytes(left.id)).saturating_sum();
    let peak_bytes = scene.run.recording.active.peak().1.as_u64();
    if left_bytes < peak_bytes / LEFT_PART {
        left.clear();
    }
    left
}

const NOTE: &str = "What is kept is taken to be freed as soon as the next iteration replaces it.";
const EVALUATION_NOTE: &str = "What is kept is taken to be freed as soon as the next iteration replaces it. Without a \
     backward, the graph of a call of the model may be there for longer or shorter than that.";

/// `detach`, where memory of earlier iterations is retained.
pub(super) fn offers<'a>(scene: &'a Scene<'_>) -> Vec<Offer<'a>> {
    let left = left_by_leak(scene);
    let is_of_evaluation = left.iter().any(|left| {
        let made = scene.run.recording.lifetimes.start(left.id);
        scene.run.category(left.id) == Category::Activation
            && scene.run.attribution.phases.phase_at(made) == Phase::Eval
    });
    let ends = ends(scene, &left);
    if ends.is_empty() {
        return Vec::new();
    }
    let ids: Vec<AllocId> = left.iter().map(|left| left.id).collect();
    let fact = format!("{} of earlier iterations are still there", most(scene, &ids));
    let precondition = Precondition::of(scene, fact, &ids);
    let (title, change) = ("keep nothing of earlier iterations", (Part::Leak, Effort::Lines));
    let offer = Offer::new("detach", title, change, precondition, move |program| {
        for &(id, end) in &ends {
            program.free_at(id, end);
        }
    });
    let offer = offer
        .code("total += loss.item(); kept.append(out.detach().cpu())  # not: loss, out")
        .cost("nothing: only what is read later has to be brought to the host")
        .note(if is_of_evaluation { EVALUATION_NOTE } else { NOTE });
    // Whether a variable still holds the last graph while the next one is made does not show.
    vec![if is_of_evaluation { offer.without_error() } else { offer }]
}

/// When each allocation would be freed.
fn ends(scene: &Scene<'_>, left: &[LeftBehind]) -> Vec<(AllocId, Point)> {
    let last = scene.run.recording.events.len() as u32;
    let likes = Likes::of(scene, left);
    let of_same_lines = more_left::of_same_lines(scene.run.recording, left, &likes.by_stack);
    let mut out: Vec<(AllocId, Point)> =
        of_same_lines.into_iter().map(|(id, event)| (id, Point::after(event, 0))).collect();
    let mut latest: Option<Range<u32>> = None;
    for group in left.chunk_by(|a, b| a.from == b.from) {
        let made: Vec<AllocId> = group.iter().map(|left| left.id).collect();
        let Some((from, next)) = group.first().and_then(|left| Some((left.from?.0, left.next[0]?.0))) else {
            continue;
        };
        out.extend(Repetition { events: from..next }.ends(scene, &made, &likes));
        let next_end = group[0].next[1].map_or(last, |event| event.0);
        latest = [latest, Some(next..next_end)].into_iter().flatten().max_by_key(|range| range.start);
    }
    // What the repetition under way keeps is not left behind yet. If its backward is over, it would be gone, too.
    if let Some(events) = latest {
        let mut order = None;
        let made = likes.made_in(scene, &events);
        let repetition = Repetition { events };
        let with_backward = made
            .into_iter()
            .filter_map(|id| Some((id, repetition.freed_by_backward(scene, id, &likes, &mut order)?)));
        out.extend(with_backward);
    }
    out
}

/// The allocations of the stacks that leave something behind.
#[derive(Debug, Default)]
struct Likes {
    /// All that a stack makes, in order.
    by_stack: HashMap<StackId, Vec<AllocId>>,
    /// What is left behind.
    left: HashSet<AllocId>,
}

impl Likes {
    fn of(scene: &Scene<'_>, left: &[LeftBehind]) -> Self {
        let mut by_stack: HashMap<StackId, Vec<AllocId>> = HashMap::default();
        for left in left {
            by_stack.entry(scene.run.recording.stack(left.id)).or_default();
        }
        by_stack.remove(&StackId::EMPTY);
        for id in scene.run.recording.ids() {
            if let Some(made) = by_stack.get_mut(&scene.run.recording.stack(id)) {
                made.push(id);
            }
        }
        Self { by_stack, left: left.iter().map(|left| left.id).collect() }
    }

    /// When the like of an allocation is made next, from an event on.
    fn next(&self, scene: &Scene<'_>, id: AllocId, from: u32) -> Option<EventIx> {
        let lifetimes = &scene.run.recording.lifetimes;
        let made = self.by_stack.get(&scene.run.recording.stack(id))?;
        let at = made.partition_point(|&other| lifetimes.start(other).0 <= from);
        lifetimes.start(*made.get(at)?).event()
    }

    /// What these stacks make within some events.
    fn made_in(&self, scene: &Scene<'_>, events: &Range<u32>) -> Vec<AllocId> {
        let lifetimes = &scene.run.recording.lifetimes;
        let made = lifetimes.started_between(Moment(events.start), Moment(events.end));
        made.filter(|&id| self.by_stack.contains_key(&scene.run.recording.stack(id))).collect()
    }
}

/// A repetition of the program.
#[derive(Debug)]
struct Repetition {
    events: Range<u32>,
}

impl Repetition {
    /// When what it left behind would be freed. Activations go with the backward that follows or, without one, all at once
    /// when the result is replaced; anything else when its like is made next: variables of a loop keep what they have until
    /// then.
    fn ends(&self, scene: &Scene<'_>, made: &[AllocId], likes: &Likes) -> Vec<(AllocId, Point)> {
        let over = Point::before(EventIx(self.events.end), 0);
        let replaced = |id: AllocId| {
            let next = likes.next(scene, id, self.events.end);
            next.map_or(over, |event| Point::after(event, 0))
        };
        let all_at_once = made.last().map_or(over, |&root| replaced(root));
        let mut order = None;
        let mut end = |id: AllocId| {
            self.freed_by_backward(scene, id, likes, &mut order).unwrap_or_else(|| {
                match scene.run.category(id) {
                    Category::Activation => all_at_once,
                    _ => replaced(id),
                }
            })
        };
        made.iter().map(|&id| (id, end(id))).collect()
    }

    /// The point at which a backward of the repetition no longer needs an activation that was made before it.
    fn freed_by_backward(
        &self,
        scene: &Scene<'_>,
        id: AllocId,
        likes: &Likes,
        known: &mut Option<BackwardOrder>,
    ) -> Option<Point> {
        if scene.run.category(id) != Category::Activation {
            return None;
        }
        let start = scene.run.recording.lifetimes.start(id).0;
        let backward = self.backward_after(scene, start)?;
        if !known.as_ref().is_some_and(|order| order.is_of(backward.start, start)) {
            let forward = self.events.start..backward.start;
            *known = Some(BackwardOrder::new(scene, forward, backward, |id| likes.left.contains(&id)));
        }
        known.as_ref().map(|order| order.freed(scene, id))
    }

    /// The backward that begins after an event, within the repetition.
    fn backward_after(&self, scene: &Scene<'_>, event: u32) -> Option<Range<u32>> {
        let phases = &scene.run.attribution.phases.phases;
        let at = phases.partition_point(|phase| phase.event.0 < event);
        let mut backwards =
            phases.iter().enumerate().skip(at).filter(|(_, phase)| phase.phase == Phase::Backward);
        let (index, backward) = backwards.next().filter(|(_, phase)| phase.event.0 < self.events.end)?;
        let end = phases.get(index + 1).map_or(self.events.end, |next| next.event.0);
        Some(backward.event.0..end.min(self.events.end))
    }
}
