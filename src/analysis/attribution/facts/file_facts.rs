//! The facts that all devices of a file share.

use super::device_facts::DeviceFacts;
use super::facts_by_stack::FactsByStack;
use crate::analysis::attribution::{Category, UserRules};
use crate::model::{DeviceId, Snapshot, Timeline};
use std::sync::{Arc, OnceLock};

/// The facts about a file: about its stacks, and about each of its devices.
#[derive(Debug)]
pub struct Facts {
    /// The facts about each stack.
    pub(in crate::analysis) stacks: Arc<FactsByStack>,
    /// The category that the user's rules give to each stack.
    pub(in crate::analysis) user_labels: Vec<Option<Category>>,
    /// The facts about each device; read when they are asked for.
    devices: Vec<(DeviceId, OnceLock<DeviceFacts>)>,
    /// The facts about a timeline that is not one of the file's.
    other: OnceLock<DeviceFacts>,
}

impl Facts {
    /// Read the stacks of a file.
    pub fn of(snapshot: &Snapshot, rules: &UserRules) -> Self {
        Self {
            stacks: Arc::new(FactsByStack::of(snapshot)),
            user_labels: rules.of_stacks(snapshot),
            devices: snapshot.timelines.iter().map(|timeline| (timeline.device, OnceLock::new())).collect(),
            other: OnceLock::new(),
        }
    }

    /// The facts about a device.
    pub(in crate::analysis) fn of_device(&self, timeline: &Timeline) -> &DeviceFacts {
        let own = self.devices.iter().find(|(device, _)| *device == timeline.device);
        let slot = own.map_or(&self.other, |(_, facts)| facts);
        slot.get_or_init(|| DeviceFacts::of(timeline, &self.stacks))
    }
}
