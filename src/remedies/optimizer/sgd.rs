//! An optimizer without state.

use super::facts::OptimizerFacts;
use crate::remedies::offer::{Effort, Offer, Part};
use crate::remedies::scene::Scene;

/// `sgd`, where an optimizer keeps state.
pub(in crate::remedies) fn offers<'a>(scene: &'a Scene<'a>) -> Vec<Offer<'a>> {
    let facts = OptimizerFacts::of(scene);
    if facts.state.is_empty() {
        return Vec::new();
    }
    let is_inferred = scene.are_inferred(&facts.state);
    let offer =
        Offer::new("sgd", "use SGD without momentum", (Part::Optimizer, Effort::Results), move |program| {
            facts.state.iter().chain(&facts.temporaries).for_each(|&id| program.leave_out(id));
        });
    let offer = offer
        .code("optimizer = torch.optim.SGD(model.parameters(), lr=lr)  # no momentum, no weight decay")
        .cost("it trains otherwise: another learning rate, mostly more steps, often a worse result")
        .note("Weight decay would need a copy of all gradients within each step.");
    vec![offer.inferred(is_inferred)]
}
