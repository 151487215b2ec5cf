//! A tensor that gets larger in every iteration, in words.

use crate::diagnosis::{Context, Finding, Growing, Role, Saving};
use crate::units;

/// Lines of code that are named.
const MAX_SITES: usize = 8;

/// What grows, by how much, and how to limit it.
pub(super) fn describe(finding: &mut Finding, context: &Context<'_>, growing: &Growing) {
    let evidence = &mut finding.evidence;
    evidence.bytes("growing_bytes", "of tensors that grow", growing.bytes);
    evidence.bytes("grown_bytes", "of these by growth", growing.grown_bytes);
    evidence.bytes("growth_per_iteration_bytes", "more with each, of what stays", growing.per_round_bytes);
    evidence.count("growing_iterations", "iterations or batches", growing.rounds);
    // Those that stay first: the others are made of them.
    let mut sites = Vec::new();
    for stack in &growing.stacks {
        crate::diagnosis::code::add_sites(&mut sites, context.code.sites(&[*stack], Role::Live), MAX_SITES);
    }
    evidence.sites = sites;
    evidence.stacks = growing.stacks.iter().take(3).copied().collect();
    evidence.allocations = growing.allocations.iter().take(10).copied().collect();
    finding.explain(format!(
        "In each of {} iterations or batches, the same code replaced a tensor by one that is {} larger; what is computed with it grows as well.",
        units::count(growing.rounds as u64),
        units::bytes(growing.per_round_bytes)
    ));
    finding.advise_code(
        "Limit what is appended to, or allocate it once at its final size and write into it:",
        "queue = torch.cat([queue, keys])[-max_length:]",
    );
    finding.saving = Some(Saving {
        bytes: growing.grown_bytes,
        formula: "live bytes of these tensors - their bytes in the first of the iterations".to_owned(),
    });
    finding.confirm = Some("Print the tensor's shape in each iteration.".to_owned());
    finding.limit(
        "A recording has sizes and no shapes; that they grow by appending is inferred from equal increments.",
    );
}

/// What grows to how much.
pub(super) fn title(growing: &Growing) -> String {
    format!(
        "tensors that grow in every iteration hold {}, {} of it by growth",
        units::bytes(growing.bytes),
        units::bytes(growing.grown_bytes)
    )
}
