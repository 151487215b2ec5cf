//! Optimizer state, the optimizer's temporaries, and gradients that stay.

use crate::analysis::{Category, Phase};
use crate::diagnosis::code::by_stack;
use crate::diagnosis::inferred::{MOST_STATE_TIMES, amount};
use crate::diagnosis::{Context, Finding, Role, Saving};
use crate::model::Allocation;

/// Less than this share of what is in use is not worth a word.
const MIN_SHARE: f64 = 0.1;

pub(super) fn find(context: &Context<'_>) -> Vec<Finding> {
    [state(context), temporaries(context), gradients(context)].into_iter().flatten().collect()
}

fn is_worth(context: &Context<'_>, bytes: i64) -> bool {
    MIN_SHARE <= Context::share(bytes, context.live_bytes())
}

fn places(context: &Context<'_>, finding: &mut Finding, live: &[&Allocation]) {
    let stacks = by_stack(live.iter().map(|a| (a.stack, a.size)));
    finding.evidence.sites = context.code.sites(&stacks, Role::Live).into_iter().take(5).collect();
    finding.evidence.allocations = live.iter().take(10).map(|a| a.id).collect();
}

fn sum(live: &[&Allocation]) -> i64 {
    live.iter().fold(0, |sum, a| sum.saturating_add(a.size))
}

fn state(context: &Context<'_>) -> Option<Finding> {
    let live = context.current(Category::OptimizerState);
    let bytes = sum(&live);
    let parameters = sum(&context.current(Category::Parameter));
    if !is_worth(context, bytes) {
        return None;
    }
    let times = Context::share(bytes, parameters);
    let inferred = context.inferred_bytes(live.iter().copied());
    let mut title = format!("Optimizer state takes {}", amount(bytes, inferred));
    if 0 < parameters {
        title = format!("{title}, {times:.1} times the parameters");
    }
    // More is kept by other optimizers, for which 8 bits are not at hand.
    let is_usual = times <= MOST_STATE_TIMES;
    if !is_usual && 0 < inferred {
        return None;
    }
    let saved = if is_usual { bytes / 4 * 3 } else { 0 };
    let mut finding = Finding::new("optimizer-state", context.severity_of(saved), title);
    finding.evidence.bytes("optimizer_state_bytes", "optimizer state", bytes);
    finding.evidence.bytes("parameter_bytes", "parameters", parameters);
    places(context, &mut finding, &live);
    finding.limit_inferred("optimizer state", bytes, inferred);
    if !is_usual {
        finding.explain("That is more than Adam keeps (twice the parameters, four times beside parameters of half the width): a history of gradients (L-BFGS), preconditioners (Shampoo), or the state of several optimizers.");
        finding.advise("Keep a shorter history or smaller blocks, let go of optimizers that are not used any more, or shard the state over ranks (FSDP, ZeroRedundancyOptimizer: 1/ranks of it each).");
        return Some(finding);
    }
    finding.explain("The first step() allocates it and it stays: twice the parameters for Adam and AdamW, once for momentum. If the moment is within the first step, it is not complete yet.");
    finding.advise_code("Keep it in 8 bits:", "bitsandbytes.optim.AdamW8bit(model.parameters())");
    finding.advise("Or shard it over ranks (FSDP, ZeroRedundancyOptimizer: 1/ranks of it each), factor it (Adafactor), or use an optimizer with less state (SGD, Lion).");
    finding.saving = Some(Saving {
        bytes: saved,
        formula: "three quarters of the state: 8 bits instead of 32".to_owned(),
    });
    finding.limit("The state's dtype is not recorded; if it has 16 bits already, 8 bits save half.");
    Some(finding)
}

fn temporaries(context: &Context<'_>) -> Option<Finding> {
    let live = context.current(Category::Temporary);
    let bytes = sum(&live);
    if context.phases().phase_at(context.moment) != Phase::Optimizer || !is_worth(context, bytes) {
        return None;
    }
    let inferred = context.inferred_bytes(live.iter().copied());
    let title = format!("The optimizer's step holds {} of temporaries", amount(bytes, inferred));
    let mut finding = Finding::new("optimizer-temporaries", context.severity_of(bytes), title);
    finding.explain(
        "The foreach implementation works on all parameters at once and needs temporaries of their size.",
    );
    finding.evidence.bytes("temporary_bytes", "temporaries", bytes);
    places(context, &mut finding, &live);
    finding.limit_inferred("temporaries", bytes, inferred);
    finding.advise_code(
        "Use one kernel for all of it, or one parameter at a time:",
        "torch.optim.AdamW(params, fused=True)   # or foreach=False",
    );
    finding.saving = Some(Saving { bytes, formula: "all temporaries of the step".to_owned() });
    Some(finding)
}

/// Finished gradients that are there although the next forward has begun.
fn gradients(context: &Context<'_>) -> Option<Finding> {
    let live = context.current(Category::Gradient);
    let bytes = sum(&live);
    let phase = context.phases().phase_at(context.moment);
    if !matches!(phase, Phase::Forward | Phase::Eval | Phase::Data) || !is_worth(context, bytes) {
        return None;
    }
    let during = if phase == Phase::Eval { "evaluation" } else { "the forward pass" };
    let inferred = context.inferred_bytes(live.iter().copied());
    let title = format!("{} of gradients are held during {during}", amount(bytes, inferred));
    let mut finding = Finding::new("gradients-kept", context.severity_of(bytes), title);
    finding.explain("They are needed from the backward pass to the step. Between, they only serve to accumulate several batches.");
    finding.evidence.bytes("gradient_bytes", "gradients", bytes);
    places(context, &mut finding, &live);
    finding.limit_inferred("gradients", bytes, inferred);
    finding.advise_code(
        "Unless gradients are accumulated on purpose, free them after each step:",
        "optimizer.zero_grad(set_to_none=True)",
    );
    finding.saving = Some(Saving { bytes, formula: "all gradients at this moment".to_owned() });
    finding.limit("Whether gradients are accumulated on purpose is not recorded.");
    Some(finding)
}
