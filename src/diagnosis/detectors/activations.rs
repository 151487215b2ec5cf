//! Activations that fill the device, and attention that is written out.

use super::autocast_copies::MIN_PARAMETER_BYTES;
use crate::analysis::{Category, Phase};
use crate::diagnosis::assessment::Assessment;
use crate::diagnosis::case::{Case, by_stack};
use crate::diagnosis::figure;
use crate::diagnosis::finding::{Finding, MAX_STACKS, Role, Severity, Site, StackBytes};
use crate::diagnosis::findings::FindingId;
use crate::diagnosis::inferred::amount;
use crate::diagnosis::numbers::SEVERAL;
use crate::diagnosis::sentence::say;
use crate::diagnosis::share::{MOST, MUCH};
use crate::diagnosis::sum::SaturatingSum as _;
use crate::model::{AllocId, Allocation};
use std::collections::BTreeSet;

/// Lines of code up to this far before and after a softmax belong to it: scores, dropout.
const NEAR_LINES: u64 = 3;

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    // Blocks that wait for a stream were given back, and no backward pass will use retained memory: a checkpoint would
    // save neither.
    let awaiting = case.awaiting();
    let in_use = assessment.in_use(Category::Activation).into_iter();
    let live: Vec<&Allocation> = in_use.filter(|a| !awaiting.contains(&a.id)).collect();
    let bytes = live.iter().map(|a| a.size).saturating_sum();
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
    let is_waiting =
        |a: &&Allocation| awaiting.contains(&a.id) && case.category(a.id) == Category::Activation;
    let waiting = case.live.iter().filter(is_waiting).map(|a| a.size).saturating_sum();
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
    let checkpointed = live.iter().filter(is_checkpointed).map(|a| a.size).saturating_sum();
    let rest = bytes.saturating_sub(checkpointed);
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
    match has_half_copies(case) {
        Some(true) => finding.explain("Copies of parameters with half of their bytes are made: autocast is on already."),
        Some(false) => finding.advise("No parameter is copied into half of its bytes, so autocast is off: if they are float32, bfloat16 autocast makes most activations half as large."),
        None => finding.advise("If they are float32, bfloat16 autocast makes most of them half as large."),
    }
    finding.limit("A recording has no dtypes and no shapes, and does not tell which activations the backward pass needs.");
    let attention = attention(case, &live);
    std::iter::once(finding).chain(attention.map(|stacks| quadratic(case, &stacks, bytes))).collect()
}

/// Whether most large parameters have a copy of half their size, as autocast makes them for each forward pass. `None` if
/// too few large parameters are known.
fn has_half_copies(case: &Case<'_>) -> Option<bool> {
    let timeline = case.timeline;
    let is_parameter = |id: AllocId| case.category(id) == Category::Parameter;
    let live = case.live.iter().filter(|a| MIN_PARAMETER_BYTES <= a.size && is_parameter(a.id));
    let sizes: BTreeSet<i64> = live.map(|a| a.size).collect();
    // A half that is the size of another parameter may be a gradient or optimizer state.
    let halves: Vec<i64> = sizes.iter().map(|size| size / 2).filter(|half| !sizes.contains(half)).collect();
    let mut is_made = vec![false; halves.len()];
    let is_passing = |&id: &AllocId| matches!(case.category(id), Category::Activation | Category::Temporary);
    for id in timeline.ids().filter(is_passing) {
        if let Ok(at) = halves.binary_search(&timeline.size(id)) {
            is_made[at] = true;
        }
    }
    let made = is_made.iter().filter(|&&made| made).count();
    match made {
        _ if halves.is_empty() => None,
        _ if !MOST.is_reached(made, halves.len()) => Some(false),
        _ => (SEVERAL <= made).then_some(true),
    }
}

/// Whether activations are kept for a backward pass: one was recorded, and the moment is not in an evaluation.
fn waits_for_backward(case: &Case<'_>) -> bool {
    case.trains() && case.phases().phase_at(case.moment) != Phase::Eval
}

/// The stacks around a softmax, whose innermost lines are next to its in the same function; `None` if they hold little. Each
/// stack counts once, whatever lines it has.
fn attention(case: &Case<'_>, live: &[&Allocation]) -> Option<Vec<StackBytes>> {
    let mut stacks = by_stack(live.iter().map(|a| (a.stack, a.size)));
    let line = |stack| case.code.lines(stack).last().map(|&key| case.code.site(key, 0, 0, Role::Live));
    let softmax = stacks.iter().filter(|row| case.code.calls(row.stack, "softmax"));
    let centres: Vec<Site> = softmax.filter_map(|row| line(row.stack)).collect();
    let is_near = |site: Site| {
        centres.iter().any(|centre| {
            let same = site.file == centre.file && site.name == centre.name;
            same && site.line.abs_diff(centre.line) <= NEAR_LINES
        })
    };
    stacks.retain(|row| line(row.stack).is_some_and(is_near));
    let all = live.iter().map(|a| a.size).saturating_sum();
    MUCH.is_reached(bytes_of(&stacks), all).then_some(stacks)
}

fn bytes_of(stacks: &[StackBytes]) -> i64 {
    stacks.iter().map(|row| row.bytes).saturating_sum()
}

fn quadratic(case: &Case<'_>, stacks: &[StackBytes], activations: i64) -> Finding {
    let held = bytes_of(stacks);
    let severity: Severity = case.severity_of(held);
    let title =
        say!("Code around a softmax holds {} of the activations", figure::bytes(held).of(activations));
    let mut finding = Finding::new(FindingId::AttentionScores, severity, title);
    finding.explain("If this is attention that is written out, the scores, their softmax and the dropout mask are each batch × heads × length × length, for every layer.");
    finding.evidence.part("attention_bytes", "held by the lines around it", held, activations);
    finding.evidence.sites = case.code.sites(stacks, Role::Live);
    finding.advise_code(
        "Use the fused operator, which never holds the scores:",
        "y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)",
    );
    finding.weighs(held);
    finding.confirm("Halve the sequence length: scores become a quarter, other activations half.");
    finding.limit("Detected by calls of softmax nearby; it may not be attention.");
    finding
}
