//! Tensors that the recorder noted, as far as the part has something at their addresses.

use super::output::Output;
use super::part::{SnapshotPart, TextKind};
use crate::keys::Key;
use foldhash::HashSet;
use oomscope_model::{DeviceId, RecordedTensor};
use std::io::{self, Write};

impl<W: Write> Output<'_, W> {
    pub(super) fn tensors(&mut self) -> io::Result<()> {
        let noted = self.part.snapshot.tensors.tensors();
        if noted.is_empty() {
            return Ok(());
        }
        let addresses = addresses(self.part);
        let kept: Vec<&RecordedTensor> =
            noted.iter().filter(|tensor| addresses.contains(&tensor.addr)).collect();
        let last = kept.iter().filter_map(|tensor| tensor.device).max();
        // One list for all devices is one that says no device.
        let devices: Vec<Option<DeviceId>> = last
            .map_or_else(|| vec![None], |DeviceId(last)| (0..=last).map(|id| Some(DeviceId(id))).collect());
        self.key(Key::ShapeData)?;
        self.list(devices, |out, device| {
            let of_device: Vec<&RecordedTensor> =
                kept.iter().copied().filter(|tensor| tensor.device == device).collect();
            out.pickle.empty_dict()?;
            of_device.chunk_by(|a, b| a.addr == b.addr).try_for_each(|here| {
                out.pickle.mark()?;
                out.text(format!("{:#x}", here[0].addr).as_bytes())?;
                out.list(here, |out, tensor| out.tensor(tensor))?;
                out.pickle.set_items()
            })
        })
    }

    fn tensor(&mut self, tensor: &RecordedTensor) -> io::Result<()> {
        let part = self.part;
        let dimensions = part.snapshot.tensors.dimensions(tensor.shape);
        self.list(0..3, |out, at| match at {
            0 => out.recorded(TextKind::Function, tensor.operator),
            1 => {
                out.pickle.mark()?;
                dimensions.iter().try_for_each(|&dimension| out.pickle.int(dimension))?;
                out.pickle.tuple()
            }
            _ => out.recorded(TextKind::Function, tensor.dtype),
        })
    }
}

/// Addresses of the part's events and blocks.
fn addresses(part: &SnapshotPart<'_>) -> HashSet<u64> {
    let mut found = HashSet::default();
    for device in &part.devices {
        let events = &device.timeline.events;
        found.extend(device.events.events().filter_map(|event| events.addr(event)));
        found.extend(device.segments.blocks.iter().map(|block| block.addr));
    }
    found
}
