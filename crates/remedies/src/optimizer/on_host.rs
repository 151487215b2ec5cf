//! An optimizer that works on the host: its state and its steps are there, with copies of the parameters.

use crate::offer::{Effort, Offer, Part};
use crate::precondition::Precondition;
use crate::price::Price;
use crate::scene::Scene;
use oomscope_analysis::Category;
use oomscope_model::{PoolKey, SaturatingSum as _};
use oomscope_program::OptimizerFacts;

/// `offload-state`, where an optimizer keeps state. A step that is captured in a graph cannot wait for the host; then there is a pool
/// for it.
pub(super) fn offer<'a>(scene: &Scene<'_>, facts: &OptimizerFacts) -> Option<Offer<'a>> {
    let may_be_captured = scene.run.recording.events.distinct_pools().any(|pool| pool != PoolKey::DEFAULT);
    if facts.state.is_empty() || may_be_captured {
        return None;
    }
    let gone = [facts.state.as_slice(), &facts.temporaries].concat();
    let failed = facts.failed.clone();
    let (title, kind) =
        ("keep the optimizer's state on the host, and run its steps there", (Part::Optimizer, Effort::Time));
    let precondition = Precondition::of_state(scene, &facts.state);
    let offer = Offer::new("offload-state", title, kind, precondition, move |program| {
        program.leave_out_all(&gone);
        let is_of_step = |event| failed.iter().any(|oom| oom.event == event);
        program.scale_failed(|event| if is_of_step(event) { 0.0 } else { 1.0 });
    });
    Some(
        offer
            .code(
                "host = [p.detach().cpu().pin_memory().requires_grad_() for p in model.parameters()]\n\
                 optimizer = torch.optim.AdamW(host, lr=lr)  # or what it is\n\
                 for p, h in zip(model.parameters(), host):  # from here on in place of each step\n    \
                 h.grad = None if p.grad is None else p.grad.cpu()\n\
                 optimizer.step()\n\
                 with torch.no_grad():\n    \
                 for p, h in zip(model.parameters(), host):\n        \
                 p.copy_(h)\n\
                 model.zero_grad()  # in place of optimizer.zero_grad()",
            )
            .price(Price { host_bytes: over_the_bus(scene), ..Price::default() })
            .cost("slower steps, by the processor of the host; as much of its memory as parameters, gradients and state take")
            .inferred(scene.run.are_inferred(&facts.state)),
    )
}

/// What crosses the bus in a step: gradients there, parameters back.
fn over_the_bus(scene: &Scene<'_>) -> u64 {
    let parameters = scene.run.of_category(Category::Parameter);
    let bytes = parameters.iter().map(|&id| scene.run.bytes(id)).saturating_sum();
    bytes.saturating_mul(2).max(1)
}
