//! What of a snapshot is written, and how its texts read.

use oomscope_model::{Annotation, DeviceId, EventIx, FrameId, SegmentTable, Snapshot, Timeline};
use std::borrow::Cow;
use std::ops::Range;

/// The use of a text in a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextKind {
    /// The path of a frame's file.
    File,
    /// The name of a frame's function.
    Function,
    /// A line of a forward trace that is recorded as text.
    TraceLine,
    /// A part of the name of generated code: its operation, node or target.
    Generated,
    /// Lines of source code.
    Source,
    /// Metadata that the program or torch attached.
    Metadata,
    /// The compiled region that was running.
    CompileContext,
    /// The category that a profiler gave.
    Category,
    /// The name of an annotated range of time.
    Annotation,
    /// The allocator's pool that a segment belongs to: small or large.
    SegmentType,
    /// The name or the value of an allocator's setting.
    Setting,
}

/// The way in which texts are written.
pub trait Rewrite {
    /// The text to write; `None` to leave it out where a snapshot may lack it.
    fn text<'t>(&self, kind: TextKind, text: &'t [u8]) -> Option<Cow<'t, [u8]>>;
}

/// Texts as they were recorded.
#[derive(Debug, Clone, Copy)]
pub struct AsRecorded;

impl Rewrite for AsRecorded {
    fn text<'t>(&self, _kind: TextKind, text: &'t [u8]) -> Option<Cow<'t, [u8]>> {
        Some(Cow::Borrowed(text))
    }
}

/// Some events of a timeline, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventRows {
    /// All events of a range.
    Range(Range<u32>),
    /// These, ascending.
    Some(Vec<EventIx>),
}

impl EventRows {
    /// The events.
    pub fn events(&self) -> Box<dyn Iterator<Item = EventIx> + '_> {
        match self {
            Self::Range(range) => Box::new(range.clone().map(EventIx)),
            Self::Some(rows) => Box::new(rows.iter().copied()),
        }
    }

    /// Number of events.
    pub fn len(&self) -> usize {
        match self {
            Self::Range(range) => range.len(),
            Self::Some(rows) => rows.len(),
        }
    }

    /// True if there is no event.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The part of one device.
#[derive(Debug)]
pub struct DevicePart<'a> {
    /// The device's timeline, which has the events.
    pub timeline: &'a Timeline,
    /// The events to write.
    pub events: EventRows,
    /// The segments after the last of them.
    pub segments: SegmentTable,
}

impl DevicePart<'_> {
    pub(super) fn is_host(&self) -> bool {
        self.timeline.device == DeviceId::HOST
    }
}

/// What is written of the key in which the recorder says what it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecorderPart {
    /// Its facts: versions, ranks, devices and what PyTorch counted. That the file is an estimate is written in any case.
    pub facts: bool,
    /// The names of what lives at the end.
    pub census: bool,
}

/// A part of a snapshot.
pub struct SnapshotPart<'a> {
    /// The snapshot, which has the texts, frames and stacks.
    pub snapshot: &'a Snapshot,
    /// Its devices, ascending.
    pub devices: Vec<DevicePart<'a>>,
    /// The annotations to write.
    pub annotations: Vec<Annotation>,
    /// Whether each frame is written, by [`FrameId`]; empty for all.
    pub keeps_frame: Vec<bool>,
    /// What of the recorder's own key is written.
    pub recorder: RecorderPart,
    /// How texts are written.
    pub rewrite: Box<dyn Rewrite + 'a>,
}

impl SnapshotPart<'_> {
    pub(super) fn keeps(&self, frame: FrameId) -> bool {
        self.keeps_frame.get(frame.index()).copied().unwrap_or(true)
    }
}

impl std::fmt::Debug for SnapshotPart<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part").field("devices", &self.devices).finish_non_exhaustive()
    }
}
