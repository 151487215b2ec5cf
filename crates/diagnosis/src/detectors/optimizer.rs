//! Optimizer state, and the optimizer's temporaries.

use super::place::{places, sum};
use crate::assessment::Assessment;
use crate::case::Case;
use crate::figure;
use crate::finding::Finding;
use crate::findings::FindingId;
use crate::inferred::amount;
use crate::sentence::say;
use oomscope_analysis::{Category, Phase};
use oomscope_model::Bytes;
use oomscope_program::share::{NOTABLE, share};
use oomscope_program::{AdamStep, OptimizerFacts};

/// The most bytes of optimizer state for each byte of parameters: Adam at 32 bits beside parameters of 16 keeps four times
/// their bytes, and may keep a copy of them. Where sizes suggest more, they are misread.
pub(super) const MOST_STATE_TIMES: f64 = 7.0;

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    [state(assessment), temporaries(assessment)].into_iter().flatten().collect()
}

fn is_worth(case: &Case<'_>, bytes: Bytes) -> bool {
    NOTABLE.is_reached(bytes, case.live_bytes())
}

fn state(assessment: &Assessment<'_>) -> Option<Finding> {
    let case = assessment.case;
    let live = assessment.in_use(Category::OptimizerState);
    let bytes = sum(&live);
    let parameters = sum(&assessment.in_use(Category::Parameter));
    if !is_worth(case, bytes) {
        return None;
    }
    let times = share(bytes, parameters);
    let inferred = case.inferred_bytes(live.iter().copied());
    let mut title = say!("Optimizer state takes {}", amount(bytes, inferred).of(case.live_bytes()));
    if 0 < parameters {
        title = say!("{}, {} times the parameters", title, figure::times(times));
    }
    // Other optimizers keep more, and have no variant with 8 bits.
    let is_usual = times <= MOST_STATE_TIMES;
    if !is_usual && 0 < inferred {
        return None;
    }
    let saved = if is_usual { bytes / 4 * 3 } else { Bytes::ZERO };
    let mut finding = Finding::new(FindingId::OptimizerState, case.severity_of(saved), title);
    finding.evidence.part("optimizer_state_bytes", "optimizer state", bytes, case.live_bytes());
    finding.evidence.part("parameter_bytes", "parameters", parameters, case.live_bytes());
    places(&mut finding, case, &live);
    finding.limit_inferred("optimizer state", bytes, inferred);
    if !is_usual {
        finding.explain("That is more than Adam keeps (twice the parameters, four times beside parameters of half the width): a history of gradients (L-BFGS), preconditioners (Shampoo), or the state of several optimizers.");
        finding.advise("Keep a shorter history or smaller blocks, let go of optimizers that are not used any more, or shard the state over ranks (FSDP, ZeroRedundancyOptimizer: 1/ranks of it each).");
        return Some(finding);
    }
    finding.explain("The first step() allocates it and it stays: twice the parameters for Adam and AdamW, once for momentum. If the moment is within the first step, it is not complete yet.");
    finding.advise_code("Keep it in 8 bits:", "bitsandbytes.optim.AdamW8bit(model.parameters())");
    finding.advise("Or shard it over ranks (FSDP, ZeroRedundancyOptimizer: 1/ranks of it each), factor it (Adafactor), or use an optimizer with less state (SGD, Lion).");
    finding.weighs(saved);
    if case.workload.number_types().declared_parameters().is_none() {
        finding.limit("The state's dtype is not recorded; if it has 16 bits already, 8 bits save half.");
    }
    Some(finding)
}

fn temporaries(assessment: &Assessment<'_>) -> Option<Finding> {
    let case = assessment.case;
    let live = assessment.in_use(Category::Temporary);
    let bytes = sum(&live);
    if case.phases().phase_at(case.moment) != Phase::Optimizer || !is_worth(case, bytes) {
        return None;
    }
    let inferred = case.inferred_bytes(live.iter().copied());
    let title =
        say!("The optimizer's step holds {} of temporaries", amount(bytes, inferred).of(case.live_bytes()));
    let mut finding = Finding::new(FindingId::OptimizerTemporaries, case.severity_of(bytes), title);
    finding.evidence.part("temporary_bytes", "temporaries", bytes, case.live_bytes());
    places(&mut finding, case, &live);
    finding.limit_inferred("temporaries", bytes, inferred);
    explain_step(&mut finding, OptimizerFacts::of(&case.workload.computation.run).adam);
    finding.weighs(bytes);
    Some(finding)
}

/// Say what a step needs them for, and how to do without.
fn explain_step(finding: &mut Finding, adam: Option<AdamStep>) {
    match adam {
        Some(AdamStep::Foreach) => {
            finding.explain("The foreach implementation works on all parameters at once and needs temporaries of their size.");
            finding.advise_code(
                "Use one kernel for all of it, or one parameter at a time:",
                "torch.optim.AdamW(params, fused=True)   # or foreach=False",
            );
        }
        Some(AdamStep::ForLoop) => {
            finding.explain(
                "The step works on one parameter after the other and needs temporaries of its size.",
            );
            finding.advise_code("Use one kernel for all of it:", "torch.optim.AdamW(params, fused=True)");
        }
        Some(AdamStep::Other) | None => {
            finding.explain("What the step computes for a parameter, it holds until it has used it; on all parameters at once (foreach), that is temporaries of their size.");
            finding.advise("Where the optimizer has such switches, let it step one parameter at a time (foreach=False) or in one kernel (fused=True).");
        }
    }
}
