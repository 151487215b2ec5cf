//! Whether expandable segments are in effect, as a file shows it.

use super::Settings;
use oomscope_model::{Action, Recording, Snapshot, StrId};

/// Code that does not work with expandable segments, by what its frames show: a part of the file's path or of the function's
/// name, and what it is.
const EXCLUDING: [(&str, &str, &str); 6] = [
    ("torch/multiprocessing/reductions.py", "", "CUDA IPC (tensors that are sent to other processes)"),
    ("", "shareCuda", "CUDA IPC (tensors that are sent to other processes)"),
    ("custom_all_reduce", "", "CUDA IPC (a custom all-reduce)"),
    ("device_allocator/cumem", "", "vLLM's sleep mode (CuMemAllocator)"),
    ("torch_memory_saver", "", "torch_memory_saver"),
    ("", "CUDAPluggableAllocator", "a pluggable allocator"),
];

/// What a file shows of expandable segments on one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpandableSegments {
    /// Nobody asked for them, and no segment is expandable.
    Off,
    /// They are in effect.
    InEffect,
    /// They were asked for, but no segment is expandable: torch ignores the setting where it was built without them.
    NotInEffect,
    /// Nobody asked for them, and a part of the program does not work with them: this.
    Excluded(&'static str),
}

impl ExpandableSegments {
    /// Look at the settings, the segments and the events of a device.
    pub fn of(recording: &Recording) -> Self {
        let snapshot = recording.snapshot();
        let (events, segments) = (&recording.events, &recording.segments.segments);
        let has = |wanted| events.indices().any(|ix| events.action(ix) == wanted);
        let is_on = Settings::recorded(snapshot).expandable_segments;
        if segments.iter().any(|segment| segment.is_expandable) || has(Action::SegmentMap) {
            Self::InEffect
        } else if !is_on && !Settings::asked_for(snapshot).any(is_expandable) {
            excluding(snapshot).map_or(Self::Off, Self::Excluded)
        } else if is_on && segments.is_empty() && !has(Action::SegmentAlloc) {
            // No segment shows whether the setting that torch states is obeyed.
            Self::InEffect
        } else {
            Self::NotInEffect
        }
    }

    /// Whether they may be advised, and tried as a change: not where the file shows that they were asked for, or do not work.
    pub fn may_be_advised(self) -> bool {
        self == Self::Off
    }

    /// Whether a change to the settings is worth a try: not one to expandable segments where they may not be advised.
    pub(crate) fn allows(self, change: &str) -> bool {
        match self {
            Self::Off => true,
            Self::InEffect => !change.contains("expandable_segments:True"),
            Self::NotInEffect | Self::Excluded(_) => !change.contains("expandable_segments"),
        }
    }
}

impl Settings {
    /// The settings that a device was recorded with, as far as its segments show that they were obeyed.
    pub fn in_effect(recording: &Recording) -> Self {
        let recorded = Self::recorded(recording.snapshot());
        let is_ignored = ExpandableSegments::of(recording) == ExpandableSegments::NotInEffect;
        Self { expandable_segments: recorded.expandable_segments && !is_ignored, ..recorded }
    }
}

/// Whether a setting that was asked for is expandable segments.
fn is_expandable((key, value): (&str, &str)) -> bool {
    key == "expandable_segments" && value.trim().eq_ignore_ascii_case("true")
}

/// What in the program does not work with expandable segments. Each different text is read once.
fn excluding(snapshot: &Snapshot) -> Option<&'static str> {
    let texts = &snapshot.strings;
    let mut is_read = [vec![false; texts.len()], vec![false; texts.len()]];
    let mut is_new = |kind: usize, text: StrId| !std::mem::replace(&mut is_read[kind][text.index()], true);
    let what = |has: &dyn Fn(&(&str, &str, &'static str)) -> bool| {
        EXCLUDING.iter().find(|row| has(row)).map(|row| row.2)
    };
    snapshot.frames.all().iter().find_map(|frame| {
        let by_file = || {
            let file = texts.path(frame.file);
            what(&|row| !row.0.is_empty() && file.contains(row.0))
        };
        let by_name = || {
            let name = texts.name(frame.name);
            what(&|row| !row.1.is_empty() && name.contains(row.1))
        };
        let file = if is_new(0, frame.file) { by_file() } else { None };
        file.or_else(|| if is_new(1, frame.name) { by_name() } else { None })
    })
}
