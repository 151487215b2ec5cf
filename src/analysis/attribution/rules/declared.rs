//! What the user, the program or the recording says.

use super::{Claims, View};

/// Claim what was declared.
pub(super) fn find(view: &View<'_>, claims: &mut Claims) {
    if view.labels.is_empty() {
        return;
    }
    for id in view.ids() {
        let by_rule = view.labels.of_stack(view.stack(id));
        let event = || view.timeline.lifetimes.start(id).event();
        let label = by_rule.or_else(|| view.labels.of_event(view.timeline, event()?));
        if let Some(label) = label {
            claims.claim(id, label);
        }
    }
}
