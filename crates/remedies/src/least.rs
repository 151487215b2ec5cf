//! What a change cannot touch.

use super::offer::{Offer, Part};
use super::scene::Scene;
use oomscope_analysis::Category;
use oomscope_simulator::Program;

/// The most bytes at once of what several offers cannot touch: what they leave as it is, with the parameters that are there. `None`
/// where they touch nothing but what they may: what they leave is a part of what they make of the program, and never more.
pub(super) fn least_requested(
    scene: &Scene<'_>,
    program: &Program<'_>,
    changed: &Program<'_>,
    combination: &[&Offer<'_>],
) -> Option<u64> {
    let may_change_parameters = combination.iter().any(|offer| changes_parameters(offer.part));
    let stays = |id| !may_change_parameters && scene.run.category(id) == Category::Parameter;
    let touches_parameters = !may_change_parameters && program.touched_by(changed).any(stays);
    touches_parameters.then(|| program.untouched_by(changed, stays).peak().bytes)
}

/// Whether remedies for a part of a program change how many parameters there are, how large they are, or how long they stay.
fn changes_parameters(part: Part) -> bool {
    match part {
        Part::Leak | Part::Copy | Part::Precision | Part::Place => true,
        Part::Optimizer
        | Part::Gradients
        | Part::Batch
        | Part::Checkpoints
        | Part::Evaluation
        | Part::Loss
        | Part::Attention
        | Part::Settings => false,
    }
}
