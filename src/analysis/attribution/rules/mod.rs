//! The rules: each family reads facts and what stronger strata found, and makes its claims.

mod announced_steps;
mod buckets;
mod by_counts;
mod by_layout;
#[cfg(test)]
mod by_layout_tests;
mod declared;
#[cfg(test)]
mod declared_tests;
#[cfg(test)]
mod early_tests;
mod gradient_sizes;
mod kept_per_layer;
mod layout;
mod layout_counts;
mod main_code;
mod old_gone;
#[cfg(test)]
mod old_gone_tests;
mod old_like_calls;
mod old_pairs;
mod old_unpaired;
mod parameter_sized;
mod plausible;
mod renewed_state;
mod replaced;
mod replaced_copies;
#[cfg(test)]
mod replaced_tests;
mod sizes;
mod stack;
#[cfg(test)]
mod table_tests;
mod unfinished_step;
mod without_modules;
mod without_stacks;
mod workspaces;

use super::claims::{Blocks, Claims, Verdict};
use super::view::View;
use super::{Category, RuleId};

/// Makes the claims of one family of rules.
type Find = fn(&View<'_>, &mut Claims);

/// All families. What is found later decides only what is open, or what its rules refine.
pub(super) const FAMILIES: [Find; 11] = [
    declared::find,
    stack::find,
    main_code::find,
    gradient_sizes::find_parameters,
    gradient_sizes::find_caches,
    replaced::find,
    parameter_sized::find,
    workspaces::find,
    sizes::find,
    buckets::find,
    plausible::find,
];
