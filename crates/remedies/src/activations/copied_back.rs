//! What a backward copies back from the host, and when, if nothing that it needs stayed on the device.
//!
//! Stacks tell little of a backward. But each of its operations lets go of what the forward had kept for it once it is over, and makes
//! nothing from then on. So what is made between two such points is made by the operations that need what goes at the second.

use crate::scene::Scene;
use foldhash::HashSet;
use oomscope_analysis::Category;
use oomscope_model::{AllocId, EventIx, Moment, SaturatingSum as _};
use oomscope_program::{Dependence, Pass, Sizes};
use oomscope_simulator::{Point, Program, Row};

/// What the forward of a pass keeps for its backward, with the weights that its products need there.
#[derive(Debug)]
pub(super) struct Kept {
    /// What the forward makes and the backward lets go of.
    pub(super) ids: HashSet<AllocId>,
    /// A copy of each while the backward needs it, and of weights.
    copies: Vec<Copy>,
}

/// Something that a backward has back for a while.
#[derive(Debug)]
struct Copy {
    like: AllocId,
    start: Point,
    end: Point,
}

/// What the forward of a pass makes and its backward lets go of.
pub(super) fn kept_for_backward(scene: &Scene<'_>, pass: &Pass) -> HashSet<AllocId> {
    let lifetimes = &scene.run.recording.lifetimes;
    let backward = Moment(pass.backward);
    // What is there at the end of a recording is kept if that ends in the pass.
    let is_cut = pass.events.end as usize == scene.run.recording.events.len();
    let goes_in_backward =
        |id: AllocId| lifetimes.end(id).map_or(is_cut, |end| backward < end && end.0 <= pass.events.end);
    let is_kept = |id: &AllocId| {
        let dependence = scene.computation().dependence(*id);
        matches!(dependence, Dependence::Batch | Dependence::WeightCopy) && goes_in_backward(*id)
    };
    scene.run.made_in(&(pass.events.start..pass.backward)).filter(is_kept).collect()
}

/// Whether a backward was recorded that lets go of something: without one, nothing says what is kept for it.
pub(super) fn has_backward_that_lets_go(scene: &Scene<'_>) -> bool {
    let frees = &scene.computation().frees;
    let mut passes = scene.computation().spans.passes();
    passes.any(|pass| (pass.backward..pass.events.end).any(|event| frees.at(event).is_some()))
}

impl Kept {
    /// Look at a pass.
    pub(super) fn of(scene: &Scene<'_>, weights: &Weights, pass: &Pass) -> Self {
        let ids = kept_for_backward(scene, pass);
        let copies = Walk::through(scene, weights, pass, &ids);
        Self { ids, copies }
    }

    /// The bytes that the backward copies back.
    pub(super) fn copied_bytes(&self, scene: &Scene<'_>) -> u64 {
        self.copies.iter().map(|copy| scene.run.bytes(copy.like)).saturating_sum()
    }

    /// Have the copies in a program.
    pub(super) fn copy_back(&self, program: &mut Program<'_>) {
        for &Copy { like, start, end } in &self.copies {
            let bytes = program.row(like).bytes;
            program.add(like, Row { bytes, start, end });
        }
    }
}

/// The sizes of parameters, by which their gradients are told.
#[derive(Debug)]
pub(super) struct Weights {
    sizes: Sizes,
    /// Whether the backward multiplies by the parameters themselves: not by copies in another type, nor by what is computed again.
    are_saved: bool,
}

impl Weights {
    pub(super) fn of(scene: &Scene<'_>) -> Self {
        let sizes = Sizes::of(&scene.run, scene.run.of_category(Category::Parameter));
        let are_saved =
            !scene.computation().has_weight_copies() && !scene.run.has_frame(|code| code.checkpoints());
        Self { sizes, are_saved }
    }
}

/// A walk through a backward.
struct Walk<'s, 'a> {
    scene: &'s Scene<'a>,
    weights: &'s Weights,
    /// What the operations under way have made so far, with the events.
    made: Vec<(AllocId, EventIx)>,
    /// What they have let go of.
    gone: Vec<(AllocId, EventIx)>,
    copies: Vec<Copy>,
}

impl<'s, 'a> Walk<'s, 'a> {
    fn through(
        scene: &'s Scene<'a>,
        weights: &'s Weights,
        pass: &Pass,
        kept: &HashSet<AllocId>,
    ) -> Vec<Copy> {
        let mut walk = Self { scene, weights, made: Vec::new(), gone: Vec::new(), copies: Vec::new() };
        for event in (pass.backward..pass.events.end).map(EventIx) {
            if let Some(id) = scene.run.recording.lifetimes.of_alloc_event(event) {
                if !walk.gone.is_empty() {
                    walk.end_operations();
                }
                walk.made.push((id, event));
            } else if let Some(id) = scene.computation().frees.at(event.0).filter(|id| kept.contains(id)) {
                walk.gone.push((id, event));
            }
        }
        walk.end_operations();
        walk.copies
    }

    /// The operations under way are over.
    fn end_operations(&mut self) {
        let (made, gone) = (std::mem::take(&mut self.made), std::mem::take(&mut self.gone));
        let (Some(&(_, first)), Some(&(_, over))) = (made.first(), gone.first()) else { return };
        let start = Point::before(first, 0);
        let summed = self.summed(&made);
        for &(like, event) in &gone {
            match summed {
                Some((from, until)) => {
                    self.copies.push(Copy { like, start, end: Point::before(from, 0) });
                    if let Some(until) = until {
                        self.copies.push(Copy {
                            like,
                            start: Point::before(until, 0),
                            end: Point::at(event),
                        });
                    }
                }
                None => self.copies.push(Copy { like, start, end: Point::at(event) }),
            }
        }
        if self.weights.are_saved {
            let weights = self.weights_of(&made, over);
            self.copies.extend(weights);
        }
    }

    /// From when to when nothing is needed but the gradient of a product: its sum is the gradient of a bias, which is computed once
    /// that of the weight is there.
    fn summed(&self, made: &[(AllocId, EventIx)]) -> Option<(EventIx, Option<EventIx>)> {
        let weight = made.iter().position(|&(id, _)| self.is_gradient(id))?;
        let bytes = self.scene.run.bytes(made[weight].0);
        let is_bias = |id| self.is_gradient(id) && self.scene.run.bytes(id) < bytes;
        let bias = weight + 1 + made[weight + 1..].iter().position(|&(id, _)| is_bias(id))?;
        let next = made[bias + 1..].iter().find(|&&(id, _)| self.is_handed_on(id));
        Some((made[bias].1, next.map(|&(_, event)| event)))
    }

    /// The weights of products have a gradient that is made after that of what they were multiplied with. What a table is looked up
    /// with has none, nor has the input of a model.
    fn weights_of(&self, made: &[(AllocId, EventIx)], over: EventIx) -> Vec<Copy> {
        let mut copies = Vec::new();
        for (index, &(like, _)) in made.iter().enumerate().filter(|(_, made)| self.is_gradient(made.0)) {
            let before = made[..index].iter().rev().take_while(|made| !self.is_gradient(made.0));
            let Some(&(_, from)) = before.into_iter().find(|made| self.is_handed_on(made.0)) else {
                continue;
            };
            let next =
                made[index + 1..].iter().find(|made| self.is_gradient(made.0) || self.is_handed_on(made.0));
            let end = Point::before(next.map_or(over, |&(_, event)| event), 0);
            copies.push(Copy { like, start: Point::before(from, 0), end });
        }
        copies
    }

    /// Whether it is the gradient of a parameter.
    fn is_gradient(&self, id: AllocId) -> bool {
        matches!(self.scene.computation().dependence(id), Dependence::Gradient | Dependence::FreshGradient)
            && self.weights.sizes.count(self.scene.run.bytes(id)) != 0
    }

    /// Whether it is the gradient of a value, which the next operation takes: it is there when something else is made.
    fn is_handed_on(&self, id: AllocId) -> bool {
        let lifetimes = &self.scene.run.recording.lifetimes;
        let start = lifetimes.start(id);
        let next = lifetimes.first_after(start).map(|next| lifetimes.start(next));
        self.scene.computation().dependence(id) == Dependence::Batch
            && lifetimes.end(id).is_none_or(|end| next.is_some_and(|next| next < end))
    }
}
