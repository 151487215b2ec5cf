//! The allocator's settings in which two recordings differ.

use oomscope_model::{Setting, SettingValue, Snapshot};
use std::collections::BTreeSet;

/// A setting that differs.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingChange {
    /// Its name.
    pub name: String,
    /// Its value on either side; `None` where it was not recorded.
    pub values: [Option<SettingValue>; 2],
}

/// The settings that differ, in the order of their names.
pub(super) fn changed_settings(a: &Snapshot, b: &Snapshot) -> Vec<SettingChange> {
    let names: BTreeSet<&str> = a.settings.iter().chain(&b.settings).map(|s| s.name.as_str()).collect();
    let value = |of: &[Setting], name: &str| of.iter().find(|s| s.name == name).map(|s| s.value.clone());
    let change = |name: &str| SettingChange {
        name: name.to_owned(),
        values: [value(&a.settings, name), value(&b.settings, name)],
    };
    let changes = names.into_iter().map(change);
    changes.filter(|change| change.values[0] != change.values[1]).collect()
}
