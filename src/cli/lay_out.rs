//! `oomscope lay-out`: the requests of a program that ran without a device become a snapshot. `oomscope estimate` calls it; people
//! have no files of requests, so the help does not list it.

use super::failure::Failure;
use super::loading;
use super::output::Destination;
use super::select::parse_bytes;
use clap::Args;
use oomscope_export::cut::{CutOptions, DeviceRange, cut};
use oomscope_model::{Bytes, DeviceId, NeededMemory, Recording, Snapshot};
use oomscope_report as report;
use oomscope_report::{LaidDevice, LaidOn};
use oomscope_simulator::{Counters, Device, LayOutError, Subject, lay_out, note_needed, smallest_capacity};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arguments of `lay-out`.
#[derive(Debug, Args)]
pub(super) struct LayOutArgs {
    /// The requests: a snapshot without segments, in which each allocation has an address of its own
    #[arg(value_name = "REQUESTS")]
    requests: PathBuf,
    /// Output snapshot, overwritten if it exists
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Say whether the requests are met on a device: its name, all its memory, and what the driver takes of it
    #[arg(long = "device", value_name = "NAME=TOTAL:CONTEXT", value_parser = parse_device)]
    devices: Vec<RealDevice>,
}

/// A device that there is.
#[derive(Debug, Clone)]
struct RealDevice {
    name: String,
    total_bytes: u64,
    context_bytes: u64,
}

impl RealDevice {
    fn memory(&self) -> Device {
        Device {
            capacity_bytes: Some(self.total_bytes.saturating_sub(self.context_bytes)),
            total_bytes: Some(self.total_bytes),
            allowed_bytes: None,
        }
    }

    /// What is needed of it, with the least capacity that meets every request.
    fn needed(&self, least_bytes: u64, fits: bool) -> NeededMemory<'_> {
        NeededMemory {
            name: &self.name,
            total_bytes: Bytes::of_size(self.total_bytes),
            context_bytes: Bytes::of_size(self.context_bytes),
            needed_bytes: Bytes::of_size(least_bytes.saturating_add(self.context_bytes)),
            fits,
        }
    }
}

fn parse_device(text: &str) -> Result<RealDevice, String> {
    let parts = text.rsplit_once('=').and_then(|(name, sizes)| Some((name, sizes.split_once(':')?)));
    let (name, (total, context)) =
        parts.ok_or_else(|| "expected NAME=TOTAL:CONTEXT, such as A100=80GiB:512MiB".to_owned())?;
    let bytes = |text: &str| {
        let bytes = u64::try_from(parse_bytes(text)?).ok();
        bytes.ok_or_else(|| format!("{text} is less than nothing"))
    };
    Ok(RealDevice { name: name.to_owned(), total_bytes: bytes(total)?, context_bytes: bytes(context)? })
}

pub(super) fn run(args: &LayOutArgs) -> Result<(), Failure> {
    if args.output == Path::new("-") {
        return Err(Failure::new("standard output has the answer", "name a file with --output"));
    }
    let destination = Destination::new(Some(&args.output), [args.requests.as_path()])?;
    let laid_out = lay_out(loading::load_quietly(&args.requests)?).map_err(|error| refused(args, error))?;
    let snapshot = Arc::new(laid_out.snapshot);
    let devices: Vec<LaidDevice<'_>> = laid_out
        .counters
        .iter()
        .filter_map(|(device, counters)| laid_device(&snapshot, *device, counters, &args.devices))
        .collect();
    let mut snapshot = Arc::into_inner(snapshot).ok_or_else(|| refused(args, LayOutError::InUse))?;
    note_needed(&mut snapshot, &needed(&devices, args.devices.len()));
    let snapshot = Arc::new(snapshot);
    write(&snapshot, destination)?;
    let estimate = snapshot.estimate().ok_or_else(|| refused(args, LayOutError::NoEstimate))?;
    Destination::STDOUT.write(|out| Ok(report::laid_out_json(out, &devices, &estimate)?))
}

/// What is needed of each device that was named: as much as the one that is asked for most, where a program uses several.
fn needed<'a>(laid: &[LaidDevice<'a>], named: usize) -> Vec<NeededMemory<'a>> {
    let of = |at: usize| {
        let on_each: Option<Vec<NeededMemory<'a>>> =
            laid.iter().map(|laid| laid.on.get(at)?.needed).collect();
        let on_each = on_each?;
        let most = *on_each.iter().max_by_key(|needed| needed.needed_bytes)?;
        Some(NeededMemory { fits: on_each.iter().all(|needed| needed.fits), ..most })
    };
    (0..named).filter_map(of).collect()
}

fn refused(args: &LayOutArgs, error: LayOutError) -> Failure {
    let file = args.requests.display();
    Failure::new(format_args!("{file}: {error}"), "name the requests that oomscope estimate wrote")
}

/// Write the whole snapshot.
fn write(snapshot: &Arc<Snapshot>, destination: Destination<'_>) -> Result<(), Failure> {
    let whole = |recording: Recording| {
        let events = 0..recording.events.len() as u32;
        DeviceRange { recording, events, matches: None }
    };
    let ranges: Vec<DeviceRange> = Recording::all(snapshot).map(whole).collect();
    let whole = cut(snapshot, &ranges, CutOptions::default());
    destination.write(|out| Ok(whole.write(out)?))
}

/// What is said of a device.
fn laid_device<'a>(
    snapshot: &Arc<Snapshot>,
    device: DeviceId,
    counters: &Counters,
    devices: &'a [RealDevice],
) -> Option<LaidDevice<'a>> {
    let subject = Subject::new(&Recording::of_device(snapshot, device)?);
    let settings = subject.recorded_settings();
    let least_bytes = smallest_capacity(&subject, settings).map(|(_, bytes)| bytes);
    let on = |real: &'a RealDevice| {
        let outcome = subject.simulate(settings, &real.memory());
        let needed = least_bytes.map(|bytes| real.needed(bytes, outcome.fits()));
        LaidOn { needed, name: &real.name, outcome }
    };
    Some(LaidDevice {
        device,
        counters: *counters,
        is_reproduced: subject.fidelity().is_complete(),
        smallest_capacity_bytes: least_bytes,
        on: devices.iter().map(on).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_a_name_and_two_sizes() {
        let found = parse_device("H100=80=85899345920:512MiB").expect("a device");
        assert_eq!(found.name, "H100=80");
        assert_eq!(found.memory().total_bytes, Some(80 << 30));
        assert_eq!(found.memory().capacity_bytes, Some((80 << 30) - (512 << 20)));
        for wrong in ["A100", "A100=80GiB", "A100=80:x", "80GiB:1"] {
            assert!(parse_device(wrong).is_err(), "{wrong}");
        }
    }
}
