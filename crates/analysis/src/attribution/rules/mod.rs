//! The rules: each family reads facts and the verdicts of families before it, and makes its claims.

mod announced_steps;
mod by_counts;
mod by_layout;
#[cfg(test)]
mod by_layout_tests;
mod by_size;
mod by_stack;
mod copied_back_parameters;
mod copies_per_parameter;
mod ddp_buckets;
mod declared;
#[cfg(test)]
mod declared_tests;
mod function_blocks;
mod gradient_sizes;
mod implausible_state;
mod kept_per_layer;
mod main_code;
mod named_later;
#[cfg(test)]
mod old_freed_tests;
mod old_like_calls;
mod old_pairs;
mod old_unpaired;
mod own_optimizer;
mod parameter_sized;
mod parameter_sweeps;
mod parameters_by_gradients;
#[cfg(test)]
mod parameters_by_gradients_tests;
mod placed_blocks;
mod preallocated_caches;
mod recorded_training;
mod replaced_parameters;
#[cfg(test)]
mod replaced_parameters_tests;
#[cfg(test)]
mod table_tests;
mod weight_code;
mod without_stacks;
mod workspaces;

use super::claims::Claims;
use super::view::View;

/// Makes the claims of one family of rules.
type ClaimFamily = fn(&View<'_>, &mut Claims);

/// All families. A later one decides only what is open, or what its rules refine.
pub(super) const FAMILIES: [ClaimFamily; 13] = [
    declared::claim,
    by_stack::claim,
    main_code::claim,
    named_later::claim,
    parameters_by_gradients::claim,
    own_optimizer::claim,
    preallocated_caches::claim,
    replaced_parameters::claim,
    parameter_sized::claim,
    workspaces::claim,
    by_size::claim,
    ddp_buckets::claim,
    implausible_state::claim,
];
