//! Allocations whose category the user, the program or the recording declares.

use crate::attribution::claims::Claims;
use crate::attribution::view::View;

/// Claim what was declared.
pub(super) fn claim(view: &View<'_>, claims: &mut Claims) {
    if view.labels.is_empty() {
        return;
    }
    for id in view.ids() {
        let by_rule = view.labels.of_stack(view.stack(id));
        let label = by_rule.or_else(|| view.labels.of_allocation(view.timeline, id));
        if let Some(label) = label {
            claims.claim(id, label);
        }
    }
}
