//! Tensors that get larger in every iteration, in words.

use crate::case::{Case, add_sites};
use crate::figure;
use crate::finding::{Finding, MAX_SITES, MAX_STACKS, Role};
use crate::growing_tensors::GrowingTensors;
use crate::sentence::{Sentence, say};

/// Describe the tensors that grow, by how much, and how to limit them.
pub(super) fn describe(finding: &mut Finding, case: &Case<'_>, growing: &GrowingTensors) {
    let evidence = &mut finding.evidence;
    evidence.part("growing_bytes", "of tensors that grow", growing.bytes, case.live_bytes());
    evidence.part("grown_bytes", "of these by growth", growing.grown_bytes, growing.bytes);
    evidence.bytes(
        "growth_per_iteration_bytes",
        "more with each, of what stays",
        growing.per_repetition_bytes,
    );
    evidence.count("growing_iterations", "times in a row", growing.repetitions);
    // Tensors that stay come first, since the others are made of them.
    let mut sites = Vec::new();
    for stack in &growing.stacks {
        add_sites(&mut sites, case.code.sites(&[*stack], Role::Live), MAX_SITES);
    }
    evidence.sites = sites;
    evidence.stacks = growing.stacks.iter().take(MAX_STACKS).copied().collect();
    evidence.about(growing.allocations.iter().copied());
    finding.because(say!("In each of {} {}, the same code replaced a tensor by one that is {} larger; what is computed with it grows as well.", figure::count(growing.repetitions), growing.noun.plural(), figure::bytes(growing.per_repetition_bytes)));
    finding.advise_code(
        "Limit what is appended to, or allocate it once at its final size and write into it:",
        "queue = torch.cat([queue, keys])[-max_length:]",
    );
    finding.advise_code("Collect the results of an evaluation on the CPU:", "results.append(output.cpu())");
    finding.weighs(growing.grown_bytes);
    finding.confirm("Print the tensor's shape in each iteration.");
    finding.limit(
        "A recording has sizes and no shapes; that they grow by appending is inferred from equal increments.",
    );
}

/// The bytes of the tensors that grow, and how many of them are growth.
pub(super) fn title(growing: &GrowingTensors) -> Sentence {
    say!(
        "tensors that grow with every {} hold {}, {} of it by growth",
        growing.noun.singular(),
        figure::bytes(growing.bytes),
        figure::bytes(growing.grown_bytes).of(growing.bytes)
    )
}
