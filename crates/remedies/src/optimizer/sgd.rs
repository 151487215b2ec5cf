//! SGD: an optimizer without state, or with one tensor for each parameter.

use crate::offer::{Effort, Offer, Part};
use crate::precondition::Precondition;
use crate::scene::Scene;
use oomscope_program::OptimizerFacts;

/// `sgd` and `sgd-momentum`, where an optimizer keeps state.
pub(super) fn offers<'a>(scene: &Scene<'_>, facts: &OptimizerFacts) -> Vec<Offer<'a>> {
    if facts.state.is_empty() {
        return Vec::new();
    }
    let is_inferred = scene.run.are_inferred(&facts.state);
    let mut all =
        vec![without_momentum(facts, Precondition::of_state(scene, &facts.state)).inferred(is_inferred)];
    if !facts.is_sgd
        && let Some(dropped) = facts.beyond_one(&scene.run)
    {
        all.push(
            with_momentum(facts, Precondition::of_state(scene, &facts.state), dropped).inferred(is_inferred),
        );
    }
    all
}

fn without_momentum<'a>(facts: &OptimizerFacts, precondition: Precondition) -> Offer<'a> {
    let gone = [facts.state.as_slice(), &facts.temporaries].concat();
    let change = (Part::Optimizer, Effort::Results);
    let offer = Offer::new("sgd", "use SGD without momentum", change, precondition, move |program| {
        program.leave_out_all(&gone);
    });
    offer
        .code("optimizer = torch.optim.SGD(model.parameters(), lr=lr)")
        .cost("it trains otherwise: another learning rate, mostly more steps, often a worse result")
        .note("Weight decay would need a copy of all gradients within each step.")
}

fn with_momentum<'a>(
    facts: &OptimizerFacts,
    precondition: Precondition,
    mut gone: Vec<oomscope_model::AllocId>,
) -> Offer<'a> {
    gone.extend(&facts.temporaries);
    let change = (Part::Optimizer, Effort::Results);
    let offer = Offer::new("sgd-momentum", "use SGD with momentum", change, precondition, move |program| {
        program.leave_out_all(&gone);
    });
    offer
        .code("optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)")
        .cost("it trains otherwise: another learning rate, often a worse result with transformers")
        .note("Weight decay would need a copy of all gradients within each step.")
}
