//! The whole file: the tables that its devices share, and its timelines.

use super::estimate::ESTIMATE_KEY;
use super::settings::{CONF_VARIABLES, Setting, entry};
use super::{
    Accelerator, ActionNames, Assumed, Bytes, Census, DeviceId, Estimate, FrameId, FrameTable, Originals,
    RecordedTensors, Sources, StackId, StackTable, StrId, StringTable, Timeline,
};
use std::sync::Arc;

/// The start or the end of a range that a profiler or the program marked (`external_annotations`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// True for the start of the range, false for its end.
    pub is_start: bool,
    /// Its name.
    pub name: StrId,
    /// The current device at that time; `None` if it was not recorded.
    pub device: Option<DeviceId>,
    /// Wall clock in microseconds since 1970; `None` if it was not recorded.
    pub time_us: Option<i64>,
}

/// A key that this version does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    /// The kind of record with this key: `snapshot`, `event`, `segment`, `block`, `frame`, …
    pub record: &'static str,
    /// The key.
    pub key: String,
    /// Number of records with this key.
    pub count: u64,
}

/// Why the file could not be read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Offset in the decompressed pickle of the first byte that could not be used.
    pub offset: u64,
    /// A description of the fault.
    pub reason: String,
}

/// Something odd in the file that did not prevent reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenIssue {
    /// A description.
    pub what: String,
    /// Number of times it occurs.
    pub count: u64,
}

/// The peaks that PyTorch itself counted, from the start of the program or the last call of `reset_peak_memory_stats()` on.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct CountedPeaks {
    /// Most bytes in use, as requested.
    pub requested_bytes: Option<Bytes>,
    /// Most bytes reserved.
    pub reserved_bytes: Option<Bytes>,
}

/// A PyTorch memory snapshot.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// Every string.
    pub strings: StringTable,
    /// Every frame.
    pub frames: FrameTable,
    /// Every stack, with the program's own lines in place of code that was generated from them.
    pub stacks: StackTable,
    /// What was recorded of stacks, where that is something else.
    pub originals: Option<Originals>,
    /// Names of actions.
    pub actions: ActionNames,
    /// One timeline for each device with events or segments, by device; pinned host memory comes first.
    pub timelines: Vec<Arc<Timeline>>,
    /// The allocator's settings, in file order; empty before torch 2.2, which did not write them.
    pub settings: Vec<Setting>,
    /// The program's own files, where the recorder attached them.
    pub sources: Sources,
    /// Facts that oomscope's own recorder attached: the versions, the rank, the step, the device's memory.
    pub recorder: Vec<Setting>,
    /// The tensors that the program could reach at the end, where oomscope's own recorder named them.
    pub census: Census,
    /// Tensors with their shapes, where the recorder noted them.
    pub tensors: RecordedTensors,
    /// Annotations, in file order.
    pub annotations: Vec<Annotation>,
    /// Keys that this version does not know.
    pub unknown_keys: Vec<UnknownKey>,
    /// Oddities that were skipped over.
    pub issues: Vec<OpenIssue>,
    /// Set when the file is cut off or damaged. The snapshot then has only the records that precede the
    /// damage.
    pub damage: Option<Damage>,
    /// Bytes of the decompressed pickle that were read.
    pub pickle_bytes: u64,
    /// What the user says where the file does not.
    pub assumed: Assumed,
}

impl Snapshot {
    /// The environment variable that sets the allocator up, by the name that the snapshot itself uses; else by the older one,
    /// which every version of torch reads.
    pub fn conf_variable(&self) -> &'static str {
        let has = |name: &&&str| self.settings.iter().any(|setting| setting.name == **name);
        CONF_VARIABLES.iter().find(has).copied().unwrap_or(CONF_VARIABLES[0])
    }

    /// The stacks as they were recorded, by the same ids.
    pub fn recorded_stacks(&self) -> &StackTable {
        self.originals.as_ref().map_or(&self.stacks, Originals::recorded)
    }

    /// The first of the stacks that show the same and call the same: compiled code has one for each line that was generated.
    pub fn first_alike(&self, stack: StackId) -> StackId {
        self.originals.as_ref().map_or(stack, |originals| originals.first(stack))
    }

    /// Whether a stack shows the program's own lines in place of something else.
    pub fn shows_originals(&self, stack: StackId) -> bool {
        let recorded = self.originals.as_ref().map(|originals| originals.recorded().frames(stack));
        recorded.is_some_and(|recorded| recorded != self.stacks.frames(stack))
    }

    /// The frames of a stack, innermost first. The innermost of lines that stand for another frame comes with that one.
    pub fn frames_with_recorded(&self, stack: StackId) -> Vec<(FrameId, Option<FrameId>)> {
        match self.originals.as_ref().filter(|_| self.shows_originals(stack)) {
            Some(originals) => originals.lines_of(originals.recorded().frames(stack)).collect(),
            None => self.stacks.frames(stack).iter().map(|&id| (id, None)).collect(),
        }
    }

    /// All memory of a device in bytes, where oomscope's recorder noted it; torch itself writes it nowhere.
    pub fn device_memory(&self, device: DeviceId) -> Option<Bytes> {
        self.noted_bytes(device, "total_bytes")
    }

    /// The peaks that PyTorch counted, where oomscope's recorder noted them; torch itself writes them nowhere.
    pub fn counted_peaks(&self, device: DeviceId) -> CountedPeaks {
        CountedPeaks {
            requested_bytes: self.noted_bytes(device, "peak_requested_bytes"),
            reserved_bytes: self.noted_bytes(device, "peak_reserved_bytes"),
        }
    }

    /// A number that oomscope's recorder noted of the whole file under a name.
    pub fn noted(&self, name: &str) -> Option<i64> {
        entry(&self.recorder, name)?.int()
    }

    /// What the file says of a program that ran without a device; `None` where a device recorded it.
    pub fn estimate(&self) -> Option<Estimate<'_>> {
        Estimate::of(entry(&self.recorder, ESTIMATE_KEY)?)
    }

    /// What oomscope's recorder noted of a device under a name.
    fn noted_bytes(&self, device: DeviceId, name: &str) -> Option<Bytes> {
        let devices = entry(&self.recorder, "devices")?.table()?;
        let about = entry(devices, &device.0.to_string())?.table()?;
        entry(about, name)?.int().map(Bytes).filter(|&bytes| 0 < bytes)
    }

    /// Whether a program ran without a device, so that all figures are predicted.
    pub fn is_estimate(&self) -> bool {
        entry(&self.recorder, ESTIMATE_KEY).is_some_and(|value| value.table().is_some())
    }

    /// The kind of accelerator that it is from.
    pub fn accelerator(&self) -> Accelerator {
        Accelerator::of(&self.settings, &self.frames, &self.strings)
    }

    /// The timeline of a device.
    pub fn timeline(&self, device: DeviceId) -> Option<&Timeline> {
        self.timelines.iter().map(|timeline| &**timeline).find(|t| t.device == device)
    }

    /// The timeline to show first: one with an OOM if there is any, and of several the one with most events.
    pub fn main_timeline(&self) -> Option<&Timeline> {
        self.timelines.iter().map(|timeline| &**timeline).max_by_key(|t| {
            (!t.ooms.is_empty(), t.events.len(), t.segments.segments.len(), std::cmp::Reverse(t.device))
        })
    }
}
