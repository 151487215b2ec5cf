//! A trace for ui.perfetto.dev, in the format of its tracing service: `perfetto.protos.Trace`.
//!
//! Each device is a process. Its counters are the totals, active memory by category and by stream; its slices are allocations,
//! iterations, phases and ranges. A trace of torch.profiler can stand beside them, on the same clock.

mod allocations;
mod counters;
mod device;
mod packets;
mod profile_tracks;
mod spans;
mod time;

use super::progress::Progress;
use super::selection::Selection;
use packets::Packets;
use std::io::{self, Write};

/// Write the trace.
pub(super) fn perfetto(
    selection: &Selection<'_>,
    out: &mut (dyn Write + Send),
    progress: &mut Progress<'_>,
) -> io::Result<()> {
    let mut packets = Packets::new(out);
    packets.clock()?;
    for portion in &selection.portions {
        device::write(&mut packets, selection, portion, progress)?;
    }
    if let Some(profile) = &selection.profile {
        profile_tracks::write(&mut packets, profile)?;
    }
    Ok(())
}
