//! Decides what of a recording is kept.

use super::annotations::annotations_within;
use super::events::kept_events;
use super::range::DeviceRange;
use super::state::{EndState, Lost, end_state};
use crate::model::Snapshot;
use crate::snapshot::write::{AsRecorded, DevicePart, Part, write_pickle};
use std::io::{self, Write};

/// A part of a recording, ready to be written.
#[derive(Debug)]
pub struct Cut<'a> {
    part: Part<'a>,
    /// Blocks that are not written as the recording has them.
    pub lost: Lost,
}

/// Cut a part out of a recording.
pub fn cut<'a>(snapshot: &'a Snapshot, ranges: Vec<DeviceRange<'a>>) -> Cut<'a> {
    let annotations = annotations_within(snapshot, &ranges);
    let mut lost = Lost::default();
    let device = |range: DeviceRange<'a>| {
        let EndState { segments, lost: lost_here } = end_state(snapshot, &range);
        lost.outside_blocks += lost_here.outside_blocks;
        lost.hidden_blocks += lost_here.hidden_blocks;
        DevicePart { timeline: range.timeline, events: kept_events(&range), segments }
    };
    let devices = ranges.into_iter().map(device).collect();
    let part =
        Part { snapshot, devices, annotations, keeps_frame: Vec::new(), rewrite: Box::new(AsRecorded) };
    Cut { part, lost }
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
