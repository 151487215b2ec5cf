//! Attention: whether it is written out, so that its scores are in memory, or fused.

use super::computation::Computation;
use super::declared_types::DeclaredTypes;
use super::operation_kind::OperationKind;
use super::run::{Run, StackSet};
use super::span::Pass;
use foldhash::HashSet;
use oomscope_analysis::{Category, TorchOperation};
use oomscope_model::{AllocId, EventIx, Moment, StackId};

/// Between two linear layers, attention makes fewer allocations than this.
const NEAR: u32 = 48;

/// Scores, masked and scaled ones, their softmax: attention makes at least this many tensors of one size in a row.
const MIN_SCORES: usize = 2;

/// The product of queries and keys, that divided by a root, and its softmax.
const IN_ONE_LINE: usize = 3;

/// One computation of attention.
#[derive(Debug)]
pub struct Attention {
    /// Everything of the scores, in the forward.
    pub scores: Vec<AllocId>,
    /// Their size in bytes.
    pub bytes: u64,
    /// Their gradients.
    pub gradients: Vec<AllocId>,
}

/// Each computation of attention in the calls of models.
pub(super) fn find(computation: &Computation<'_>) -> Vec<Attention> {
    let run = &computation.run;
    let softmax = run.stacks_of_operations(|operation| operation == TorchOperation::Softmax);
    // Keys and values that grow with each token are made between products, too.
    let is_call = |id: &AllocId| computation.depends_on_batch(*id) && run.category(*id) != Category::KvCache;
    let calls: Vec<AllocId> = run.recording.ids().filter(is_call).collect();
    let is_product = |id: AllocId| computation.is_product(id);
    let mut product_bytes = 0;
    let mut out = Vec::new();
    for group in calls.chunk_by(|&a, &b| is_product(a) == is_product(b)) {
        if is_product(group[0]) {
            product_bytes = last_bytes(run, group);
        } else if group.len() <= NEAR as usize {
            out.extend(attention(computation, group, product_bytes, &softmax));
        }
    }
    let again = in_other_passes(computation, &out);
    out.extend(again);
    let declared = declared(computation, &out);
    out.extend(declared);
    out.sort_by_key(|attention| attention.scores.first().copied());
    out
}

/// Scores that the program itself shows: what softmax has saved for the backward, as long as it is wide.
fn declared(computation: &Computation<'_>, found: &[Attention]) -> Vec<Attention> {
    let run = &computation.run;
    let scores = DeclaredTypes::of(run).scores;
    if scores.is_empty() {
        return Vec::new();
    }
    let known: HashSet<AllocId> =
        found.iter().flat_map(|attention| attention.scores.iter().copied()).collect();
    let is_new = |id: &AllocId| {
        !known.contains(id)
            && scores.contains(&(run.recording.stack(*id), run.bytes(*id)))
            && run.category(*id) == Category::Activation
    };
    run.recording.ids().filter(is_new).map(|id| alone(computation, id)).collect()
}

/// Scores by themselves.
fn alone(computation: &Computation<'_>, id: AllocId) -> Attention {
    let (scores, bytes) = (vec![id], computation.run.bytes(id));
    Attention { gradients: gradients(computation, &scores, bytes), scores, bytes }
}

/// Attention in passes that show none by themselves, since only what they keep is known: what the lines make there that make scores
/// elsewhere, if it is as large.
fn in_other_passes(computation: &Computation<'_>, found: &[Attention]) -> Vec<Attention> {
    let run = &computation.run;
    let made_by = |id: AllocId| (run.recording.stack(id), run.bytes(id));
    let of_scores = |attention: &Attention| {
        let bytes = attention.bytes;
        let scores = attention.scores.iter().copied().map(made_by);
        scores.filter(move |made| made.1 == bytes).collect::<Vec<_>>()
    };
    let scores: HashSet<(StackId, u64)> = found.iter().flat_map(of_scores).collect();
    let starts: Vec<Moment> = found
        .iter()
        .filter_map(|attention| Some(run.recording.lifetimes.start(*attention.scores.first()?)))
        .collect();
    let has_none = |pass: &&Pass| {
        let first = starts.get(starts.partition_point(|start| start.0 < pass.events.start));
        first.is_none_or(|start| pass.events.end <= start.0)
    };
    let forward = |pass: &Pass| run.made_in(&(pass.events.start..pass.backward));
    let passes = computation.spans.passes().filter(has_none);
    passes
        .flat_map(forward)
        .filter(|&id| scores.contains(&made_by(id)))
        .map(|id| alone(computation, id))
        .collect()
}

/// The result of the last of some products: the largest that its line made.
fn last_bytes(run: &Run<'_>, products: &[AllocId]) -> u64 {
    let stack = |id: &AllocId| run.recording.stack(*id);
    let of_last = products.iter().rev().take_while(|id| products.last().map(stack) == Some(stack(id)));
    of_last.map(|&id| run.bytes(id)).max().unwrap_or(0)
}

/// The attention among what a call makes between two linear layers.
fn attention(
    computation: &Computation<'_>,
    group: &[AllocId],
    product_bytes: u64,
    softmax: &StackSet,
) -> Option<Attention> {
    let run = &computation.run;
    let stack = |id: AllocId| run.recording.stack(id);
    let by_softmax =
        group.iter().copied().filter(|&id| softmax.has(stack(id))).max_by_key(|&id| run.bytes(id));
    let largest = || group.iter().copied().max_by_key(|&id| run.bytes(id));
    let bytes = run.bytes(by_softmax.or_else(largest)?);
    let is_score = |id: &AllocId| run.bytes(*id) == bytes;
    let is_own = |id: &AllocId| computation.operation_kind(*id) == OperationKind::Own;
    let first = group.iter().position(is_score)?;
    let last = group.iter().rposition(is_score)?;
    let count = group.iter().filter(|id| is_score(id)).count();
    // Queries, keys and values are products of the input: each its own, two of them one, or all of them.
    let is_input = |bytes: u64| (1..=3).any(|values| bytes.saturating_mul(values) == product_bytes);
    // Softmax over something else has no product after it that is smaller. Where no frame tells of softmax, lines outside of
    // torch make scores, which have a size of their own, and what comes of them has the size of the values again.
    let lines: Vec<StackId> = group[first..=last]
        .iter()
        .filter(|id| is_score(id) && is_own(id) && stack(**id) != StackId::EMPTY)
        .map(|&id| stack(id))
        .collect();
    // In one line, other code makes such sizes, too: there it takes all steps.
    let is_written = lines.iter().any(|line| *line != lines[0]) || IN_ONE_LINE <= lines.len();
    // Autocast turns values into numbers of four bytes, and back.
    let is_wide_input = computation.has_weight_copies() && is_input(bytes / 2);
    let is_its_own = is_written && !is_input(bytes) && !is_wide_input;
    let is_result = |id: &AllocId| is_its_own && is_input(run.bytes(*id)) && is_own(id);
    let mut after = group[last + 1..].iter().filter(|&&id| run.bytes(id) < bytes);
    let is_reduced = after.any(|id| by_softmax.is_some() || is_result(id));
    if count < MIN_SCORES || !is_reduced {
        return None;
    }
    let scores = group[first..=last].to_vec();
    let gradients = gradients(computation, &scores, bytes);
    Some(Attention { scores, bytes, gradients })
}

/// What the backward makes of the size of scores while it goes through them.
fn gradients(computation: &Computation<'_>, scores: &[AllocId], bytes: u64) -> Vec<AllocId> {
    let run = &computation.run;
    let lifetimes = &run.recording.lifetimes;
    let made = scores.first().and_then(|&id| lifetimes.start(id).event());
    let Some(pass) = made.and_then(|event| computation.pass_at(event)) else { return Vec::new() };
    let ends = || scores.iter().filter_map(|&id| lifetimes.end(id)?.event());
    let in_backward = || ends().filter(|end| pass.backward <= end.0);
    let (Some(first), Some(last)) = (in_backward().min(), in_backward().max()) else { return Vec::new() };
    let is_other = |event: &u32| {
        let id = computation.frees.at(*event);
        id.is_some_and(|id| {
            pass.events.start < lifetimes.start(id).0
                && lifetimes.start(id).0 <= pass.backward
                && !scores.contains(&id)
        })
    };
    let start = (pass.backward..first.0).rev().find(is_other).unwrap_or(pass.backward);
    let until = (last.0..pass.events.end).find(is_other).unwrap_or(pass.events.end);
    let made = lifetimes.started_between(Moment::after(EventIx(start)), Moment(until));
    made.filter(|&id| run.bytes(id) == bytes).collect()
}

/// Whether some frame of the recording is one of fused attention.
pub fn is_attention_fused(run: &Run<'_>) -> bool {
    run.has_frame(|code| code.is_fused_attention())
}

#[cfg(test)]
mod tests {
    use crate::{Run, Workload};
    use oomscope_analysis::{Attribution, UserRules};
    use oomscope_fixtures::census::Names;
    use oomscope_fixtures::programs::{BACKWARD, DATA, LOAD, Program, ZERO_GRAD};

    const MIB: i64 = 1 << 20;
    const CALL: &str = "torch/nn/modules/module.py _call_impl";
    const MAIN: &str = "/home/me/serve.py:90 <module>";
    const VALUES: &[&str] =
        &["torch/nn/modules/linear.py forward", CALL, "/home/me/attention.py:10 forward", CALL, MAIN];
    const SCORE: &[&str] = &["/home/me/attention.py:11 forward", CALL, MAIN];
    const SOFTMAX: &[&str] = &["/home/me/attention.py:12 forward", CALL, MAIN];
    const RESULT: &[&str] = &["/home/me/attention.py:13 forward", CALL, MAIN];

    /// How many computations of attention are written out in two calls that make some tensors between two products: MiB and
    /// the lines that make them.
    fn written_out(made: &[(i64, &'static [&'static str])]) -> usize {
        let mut program = Program::default();
        for size in [3 * MIB, 5 * MIB] {
            program.alloc(size, LOAD);
        }
        for _ in 0..2 {
            let input = program.alloc(4 * MIB, DATA);
            let mut values = vec![program.alloc(12 * MIB, VALUES)];
            values.extend(made.iter().map(|&(size, stack)| program.alloc(size * MIB, stack)));
            values.push(program.alloc(4 * MIB, VALUES));
            for value in values {
                program.free(value, &[MAIN]);
            }
            program.free(input, DATA);
        }
        let recording = program.finish();
        let attribution = Attribution::of(&recording, &UserRules::default());
        Workload::of(Run { recording: &recording, attribution: &attribution }).attention().len()
    }

    #[test]
    fn scores_have_a_size_of_their_own_and_give_values_again() {
        assert_eq!(written_out(&[(32, SCORE), (32, SOFTMAX), (4, RESULT)]), 2);
    }

    #[test]
    fn scores_may_be_made_in_one_line() {
        const OTHER: &[&str] = &["/home/me/attention.py:11 forward", CALL, MAIN];
        assert_eq!(written_out(&[(32, SCORE), (32, SCORE), (32, SCORE), (4, OTHER)]), 2);
        // Rotated queries and keys are two of a size, and what comes of them may have any.
        assert_eq!(written_out(&[(32, SCORE), (32, SCORE), (4, OTHER)]), 0);
        assert_eq!(written_out(&[(5, SCORE), (32, SCORE), (32, SCORE), (32, SCORE), (5, OTHER)]), 0);
    }

    #[test]
    fn a_pass_of_which_only_what_it_keeps_is_known_has_scores_too() {
        let mut program = Program::default();
        let parameters = [3 * MIB, 5 * MIB];
        for size in parameters {
            program.alloc(size, LOAD);
        }
        for step in 0..3 {
            let input = program.alloc(4 * MIB, DATA);
            let mut kept = vec![program.alloc(12 * MIB, VALUES)];
            if step < 2 {
                let scores = program.alloc(32 * MIB, SCORE);
                kept.push(program.alloc(32 * MIB, SOFTMAX));
                program.free(scores, SCORE);
                kept.push(program.alloc(4 * MIB, RESULT));
            } else {
                kept.push(program.alloc(32 * MIB, SOFTMAX));
            }
            kept.push(program.alloc(4 * MIB, VALUES));
            for value in kept.into_iter().rev() {
                program.free(value, BACKWARD);
            }
            let gradients = parameters.map(|size| program.alloc(size, BACKWARD));
            for address in gradients {
                program.free(address, ZERO_GRAD);
            }
            program.free(input, DATA);
        }
        let recording = program.finish();
        let attribution = Attribution::of(&recording, &UserRules::default());
        let run = Run { recording: &recording, attribution: &attribution };
        let scores: Vec<usize> =
            Workload::of(run).attention().iter().map(|attention| attention.scores.len()).collect();
        assert_eq!(scores, [2, 2, 1]);
    }

    /// The scores that are found where softmax, or another operation, has saved a tensor of a shape for the backward, in the last
    /// of two calls; sizes alone show none.
    fn saved_by(operation: &str, shape: &[i64]) -> usize {
        let (mut program, mut names) = (Program::default(), Names::default());
        program.alloc(3 * MIB, LOAD);
        for step in 0..2 {
            let input = program.alloc(4 * MIB, DATA);
            let values = program.alloc(12 * MIB, VALUES);
            let scores = program.alloc(32 * MIB, SOFTMAX);
            match step {
                0 => {
                    for value in [scores, values] {
                        program.free(value, BACKWARD);
                    }
                    program.free(input, DATA);
                }
                _ => names.saved(scores, operation, shape),
            }
        }
        program.name(names.finish());
        let recording = program.finish();
        let attribution = Attribution::of(&recording, &UserRules::default());
        let run = Run { recording: &recording, attribution: &attribution };
        Workload::of(run).attention().iter().map(|attention| attention.scores.len()).sum()
    }

    #[test]
    fn what_softmax_has_saved_of_as_many_places_as_it_looks_at_are_scores() {
        assert_eq!(saved_by("SoftmaxBackward0", &[8, 1024, 1024]), 2);
        // Experts, classes, and products of other kinds.
        assert_eq!(saved_by("SoftmaxBackward0", &[8, 1024, 16]), 0);
        assert_eq!(saved_by("LogSoftmaxBackward0", &[1024, 1024]), 0);
        assert_eq!(saved_by("MulBackward0", &[8, 1024, 1024]), 0);
    }

    #[test]
    fn copies_of_queries_and_keys_are_no_scores() {
        // Fused attention makes a result of their size, and sums that are smaller.
        assert_eq!(written_out(&[(4, SCORE), (4, SOFTMAX), (4, RESULT), (1, RESULT)]), 0);
        // What is not attention has other sizes after it.
        assert_eq!(written_out(&[(32, SCORE), (32, SOFTMAX), (5, RESULT)]), 0);
    }
}
