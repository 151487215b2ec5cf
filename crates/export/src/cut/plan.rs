//! Decides what of a recording is kept.

use super::annotations::annotations_within;
use super::events::kept_events;
use super::range::DeviceRange;
use super::redact::Redaction;
use super::state::{EndState, Lost, end_state};
use oomscope_analysis::{by_function, is_python};
use oomscope_model::Snapshot;
use oomscope_snapshot::write::{AsRecorded, DevicePart, RecorderPart, Rewrite, SnapshotPart, write_pickle};
use std::io::{self, Write};

/// How the texts and stacks of a cut differ from those of the recording.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CutOptions {
    /// Folders and free texts that may name users, hosts and projects are replaced.
    pub redacts: bool,
    /// Frames of compiled code are left out.
    pub strips_compiled: bool,
}

/// A part of a recording, ready to be written.
#[derive(Debug)]
pub struct Cut<'a> {
    part: SnapshotPart<'a>,
    /// Blocks that are not written as the recording has them.
    pub lost: Lost,
}

/// Cut a part out of a recording.
pub fn cut<'a>(snapshot: &'a Snapshot, ranges: &'a [DeviceRange], options: CutOptions) -> Cut<'a> {
    let annotations = annotations_within(snapshot, ranges);
    let mut lost = Lost::default();
    let device = |range: &'a DeviceRange| {
        let EndState { segments, lost: lost_here } = end_state(range);
        lost.outside_blocks += lost_here.outside_blocks;
        lost.hidden_blocks += lost_here.hidden_blocks;
        DevicePart { timeline: &range.recording, events: kept_events(range), segments }
    };
    let devices = ranges.iter().map(device).collect();
    let rewrite: Box<dyn Rewrite> =
        if options.redacts { Box::new(Redaction::of(snapshot)) } else { Box::new(AsRecorded) };
    let keeps_frame = if options.strips_compiled { python_frames(snapshot) } else { Vec::new() };
    // Names are those of what lives at the end, and what was counted is of all that happened up to it.
    let is_to_end = ranges.iter().all(DeviceRange::is_to_end);
    let is_all = ranges.iter().all(|range| range.matches.is_none());
    let recorder = RecorderPart { facts: is_to_end && is_all, census: is_to_end };
    Cut { part: SnapshotPart { snapshot, devices, annotations, keeps_frame, recorder, rewrite }, lost }
}

/// Whether each frame is Python, or a line of text without a file.
fn python_frames(snapshot: &Snapshot) -> Vec<bool> {
    by_function(snapshot, |frame| {
        let file = snapshot.strings.path(frame.file);
        // Programs such as torchrun have no ending; their outermost frame tells them from libraries.
        file.is_empty() || is_python(&file) || snapshot.strings.is(frame.name, b"<module>")
    })
}

impl Cut<'_> {
    /// Write it as a pickle.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        write_pickle(out, &self.part).map(drop)
    }

    /// Number of events.
    pub fn events(&self) -> usize {
        self.part.devices.iter().map(|device| device.events.len()).sum()
    }

    /// Number of segments.
    pub fn segments(&self) -> usize {
        self.part.devices.iter().map(|device| device.segments.segments.len()).sum()
    }
}
