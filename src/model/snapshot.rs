//! The whole file.

use super::{ActionNames, DeviceId, FrameTable, StackTable, StrId, StringTable, Timeline};

/// A scalar or nested value of the allocator settings.
#[derive(Debug, Clone, PartialEq)]
pub enum SettingValue {
    /// `None`, or a value of a kind that settings do not have.
    None,
    /// A switch.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A fraction.
    Float(f64),
    /// A text, such as `PYTORCH_CUDA_ALLOC_CONF`.
    Text(String),
    /// A table, such as `roundup_power2_divisions`.
    Table(Vec<Setting>),
}

/// One allocator setting that the recording process ran with.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The setting's name.
    pub name: String,
    /// Its value.
    pub value: SettingValue,
}

/// A mark that a profiler range or the program left (`external_annotations`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// Whether the range starts here, as opposed to ends.
    pub is_start: bool,
    /// Its name.
    pub name: StrId,
    /// The device that was current.
    pub device: Option<DeviceId>,
    /// Wall clock in microseconds since 1970.
    pub time_us: Option<i64>,
}

/// A key that this version does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    /// The kind of record that has it: `snapshot`, `event`, `segment`, `block`, `frame`, …
    pub record: &'static str,
    /// The key.
    pub key: String,
    /// How many records have it.
    pub count: u64,
}

/// Why the file could not be read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Offset of the first byte that could not be used, in the decompressed pickle.
    pub offset: u64,
    /// What was wrong there.
    pub reason: String,
}

/// Something odd in the file that did not prevent reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenIssue {
    /// What, in words.
    pub what: String,
    /// How often.
    pub count: u64,
}

/// A PyTorch memory snapshot.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// Every string.
    pub strings: StringTable,
    /// Every frame.
    pub frames: FrameTable,
    /// Every stack.
    pub stacks: StackTable,
    /// Names of actions.
    pub actions: ActionNames,
    /// One timeline per device that has events or segments, by device; pinned host memory first.
    pub timelines: Vec<Timeline>,
    /// The allocator's settings, in file order; empty before torch 2.2, which did not write them.
    pub settings: Vec<Setting>,
    /// Annotations, in file order.
    pub annotations: Vec<Annotation>,
    /// Keys that this version does not know.
    pub unknown_keys: Vec<UnknownKey>,
    /// Oddities that were skipped over.
    pub issues: Vec<OpenIssue>,
    /// Set when the file is cut off or damaged: then only what was whole before is here.
    pub damage: Option<Damage>,
    /// Size of the decompressed pickle, as far as it was read.
    pub pickle_bytes: u64,
}

impl Snapshot {
    /// The timeline of a device.
    pub fn timeline(&self, device: DeviceId) -> Option<&Timeline> {
        self.timelines.iter().find(|t| t.device == device)
    }

    /// The timeline to show first: the one with an OOM, else the one with most events.
    pub fn main_timeline(&self) -> Option<&Timeline> {
        self.timelines.iter().max_by_key(|t| {
            (!t.ooms.is_empty(), t.events.len(), t.segments.segments.len(), std::cmp::Reverse(t.device))
        })
    }
}
