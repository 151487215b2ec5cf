//! Activations that fill the device, and attention that is written out.

use super::place::{places, sum};
use crate::assessment::Assessment;
use crate::case::{Case, by_stack};
use crate::figure;
use crate::finding::{Finding, MAX_STACKS, Role};
use crate::findings::FindingId;
use crate::inferred::amount;
use crate::sentence::say;
use foldhash::HashSet;
use oomscope_analysis::{Category, Phase};
use oomscope_model::{AllocId, Allocation, Bytes, StackId};
use oomscope_program::share::MUCH;

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    // Blocks that wait for a stream were given back, and no backward pass will use retained memory: a checkpoint would
    // save neither.
    let awaiting = case.awaiting();
    let in_use = assessment.in_use(Category::Activation).into_iter();
    let live: Vec<&Allocation> = in_use.filter(|a| !awaiting.contains(&a.id)).collect();
    let bytes = live.iter().map(|a| a.size).sum::<Bytes>();
    if !MUCH.is_reached(bytes, case.live_bytes()) || !waits_for_backward(case) {
        return Vec::new();
    }
    let stacks = by_stack(live.iter().map(|a| (a.stack, a.size)));
    let sites = case.code.sites(&stacks, Role::Live);
    let inferred = case.inferred_bytes(live.iter().copied());
    let title = say!(
        "Activations take {} ({} of what is in use)",
        amount(bytes, inferred).of(case.live_bytes()),
        figure::share(bytes, case.live_bytes())
    );
    let mut finding = Finding::new(FindingId::Activations, case.severity_of(bytes / 2), title);
    finding.explain(
        "They are kept from the forward pass for the backward pass and grow with the batch and the sequence.",
    );
    let waiting = case.live_of(Category::Activation).filter(|a| awaiting.contains(&a.id));
    let waiting = waiting.map(|a| a.size).sum::<Bytes>();
    if 0 < waiting {
        finding.explain(say!(
            "{} more were given back and wait for a stream: they are not counted here.",
            figure::bytes(waiting).of(case.live_bytes())
        ));
    }
    finding.explain_if(case.code.overlap(&stacks));
    finding.limit_inferred("activations", bytes, inferred);
    finding.evidence.part("activation_bytes", "activations", bytes, case.live_bytes());
    finding.evidence.count("activations", "allocations", live.len());
    finding.evidence.about(live.iter().map(|a| a.id));
    finding.evidence.sites = sites.iter().take(10).cloned().collect();
    finding.evidence.stacks = stacks.into_iter().take(MAX_STACKS).collect();
    let is_checkpointed = |a: &&&Allocation| case.code.is_below(a.stack, |code| code.checkpoints());
    let checkpointed = live.iter().filter(is_checkpointed).map(|a| a.size).sum::<Bytes>();
    let rest = bytes - checkpointed;
    if 0 < checkpointed {
        finding.explain(say!("{} of them were made in parts that checkpointing computes again: only their inputs, and what is being worked on, are kept.", figure::bytes(checkpointed).of(bytes)));
    }
    if checkpointed < rest {
        finding.advise_code(
            "Recompute them in the backward pass (for 20–33 % more time):",
            "x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)",
        );
        finding.weighs(rest / 2);
        finding.confirm("Checkpoint the largest block alone and compare the peaks.");
    }
    let types = case.workload.number_types();
    let is_declared = types.declared_parameters().is_some();
    if case.workload.computation.has_weight_copies() {
        finding.explain("Copies of parameters with half of their bytes are made: autocast is on already.");
    } else if types.are_half {
        finding.explain(if is_declared {
            "As the program says, numbers have two bytes already."
        } else {
            "As far as sizes show, their numbers have two bytes already."
        });
    } else if types.are_wide {
        finding.advise("Sizes show numbers of four bytes and no copies of parameters, so autocast is off: bfloat16 autocast makes most activations half as large.");
    } else {
        finding.advise("If they are float32, bfloat16 autocast makes most of them half as large.");
    }
    finding.limit(if is_declared {
        "The recording does not tell of most activations whether the backward pass needs them."
    } else {
        "A recording has no dtypes and no shapes, and does not tell which activations the backward pass needs."
    });
    let attention = attention(case, &live);
    std::iter::once(finding).chain(attention.map(|scores| written_out(case, &scores, bytes))).collect()
}

/// Whether activations are kept for a backward pass: one was recorded, and the moment is not in an evaluation.
fn waits_for_backward(case: &Case<'_>) -> bool {
    case.trains() && case.phases().phase_at(case.moment) != Phase::Eval
}

/// The scores of attention that is written out; `None` if they hold little.
fn attention<'a>(case: &Case<'_>, live: &[&'a Allocation]) -> Option<Vec<&'a Allocation>> {
    let timeline = case.recording.timeline();
    let attention = case.workload.attention();
    let scores: HashSet<AllocId> = attention.iter().flat_map(|one| one.scores.iter().copied()).collect();
    let stacks: HashSet<StackId> = scores.iter().map(|&id| timeline.stack(id)).collect();
    let sizes: HashSet<u64> = attention.iter().map(|one| one.bytes).collect();
    // A request that fails cuts off the attention that made it.
    let is_under_way = |a: &Allocation| {
        a.stack != StackId::EMPTY && stacks.contains(&a.stack) && sizes.contains(&a.size.unsigned_abs())
    };
    let is_held = |a: &&Allocation| scores.contains(&a.id) || is_under_way(a);
    let held: Vec<&Allocation> = live.iter().copied().filter(is_held).collect();
    MUCH.is_reached(sum(&held), sum(live)).then_some(held)
}

fn written_out(case: &Case<'_>, scores: &[&Allocation], activations: Bytes) -> Finding {
    let held = sum(scores);
    let title = say!(
        "Scores of attention that is written out hold {} of the activations",
        figure::bytes(held).of(activations)
    );
    let mut finding = Finding::new(FindingId::AttentionScores, case.severity_of(held), title);
    finding.explain("The scores, their softmax and the dropout mask are each batch × heads × length × length, for every layer.");
    finding.evidence.part("attention_bytes", "scores", held, activations);
    places(&mut finding, case, scores);
    finding.advise_code(
        "Use the fused operator, which never holds the scores:",
        "y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)",
    );
    finding.weighs(held);
    finding.confirm("Halve the sequence length: scores become a quarter, other activations half.");
    finding.limit("That it is attention is told by its lines and by sizes.");
    finding
}
