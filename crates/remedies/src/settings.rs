//! Other settings of the allocator.

use super::offer::{Change, Effort, Offer, Part};
use super::precondition::Precondition;
use super::scene::Scene;
use oomscope_simulator::useful_changes;

/// The pattern of the ids.
pub(super) const ID: &str = "set:NAME=VALUE";

/// The name and the value of a setting in an id.
pub(super) fn parse(id: &str) -> Option<(&str, &str)> {
    id.strip_prefix("set:")?.split_once('=')
}

/// The settings that are worth a try, one change each.
pub(super) fn offers<'a>(scene: &'a Scene<'_>) -> Vec<Offer<'a>> {
    let variable = scene.subject.recorded_settings().variable;
    useful_changes(scene.subject).into_iter().map(|(name, value)| offer(variable, name, value)).collect()
}

/// The offer to change a setting.
pub(super) fn offer<'a>(variable: &str, name: &str, value: &str) -> Offer<'a> {
    let title = format!("set {name} to {value}");
    let precondition = Precondition::new(format!("the recorded run did not have {name}:{value}"));
    let change = (Part::Settings, Effort::Argument);
    let offer = Offer::new(format!("set:{name}={value}"), title, change, precondition, |_| ());
    let offer = Offer { change: Change::Setting(name.to_owned(), value.to_owned()), ..offer };
    offer
        .code(format!("export {variable}={name}:{value}"))
        .cost("nothing to speak of: only where blocks lie changes")
        .note("Requested bytes stay the same; it may lower what is reserved.")
}
