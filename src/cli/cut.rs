//! `oomscope cut`.

use super::failure::Failure;
use super::select::{
    NamedRange, OneDevice, Opened, Source, matches, parse_filter, parse_range, with_filters, with_ranges,
};
use super::stderr;
use clap::Args;
use flate2::Compression;
use flate2::write::GzEncoder;
use oomscope_analysis::Attribution;
use oomscope_analysis::filter::{Filter, Prepared};
use oomscope_export::cut::{Cut, CutOptions, DeviceRange, Lost, cut};
use oomscope_model::Moment;
use oomscope_units as units;
use std::path::{Path, PathBuf};

/// Arguments of `cut`.
#[derive(Debug, Args)]
#[command(
    mut_arg("device", |arg| arg.help("Only this device, -1 for pinned host memory [default: all]")),
    mut_arg("range", with_ranges),
    mut_arg("filter", with_filters),
    after_help = "Examples:
  oomscope cut big.pickle --range iteration:3 -o small.pickle
  oomscope cut big.pickle --range 41000..43000 --device 0 -o small.pickle
  oomscope cut big.pickle --filter 'size>1MiB' -o small.pickle
  # For a ticket, without names of users, hosts and projects:
  oomscope cut oom.pickle --redact --strip-cpp-frames -o ticket.pickle

The output is a snapshot that every viewer opens. Its segments are those after the last event that is kept, \
from which viewers reconstruct the earlier states. docs/cut.md says what stays the same, and what does not."
)]
pub(super) struct CutArgs {
    #[command(flatten)]
    source: Source,
    /// Keep only these events, such as iteration:3 or 100..200
    #[arg(long, value_name = "RANGE", value_parser = parse_range)]
    range: Option<NamedRange>,
    #[command(flatten)]
    device: OneDevice,
    /// Keep only allocations that match, such as 'size>100MB attention stream:7'
    ///
    /// The memory of the others is free in the output.
    #[arg(long, value_name = "QUERY", value_parser = parse_filter, allow_hyphen_values = true)]
    filter: Option<Filter>,
    /// Replace directories by numbers, and leave out texts that may name users, hosts or projects
    #[arg(long)]
    redact: bool,
    /// Leave out frames of compiled code
    ///
    /// Most frames of stacks that were recorded with stacks="all" are of compiled code.
    #[arg(long)]
    strip_cpp_frames: bool,
    /// Output file, overwritten if it exists, compressed if its name ends in .gz
    ///
    /// '-' is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl CutArgs {
    fn options(&self) -> CutOptions {
        CutOptions { redacts: self.redact, strips_compiled: self.strip_cpp_frames }
    }
}

pub(super) fn run(args: &CutArgs) -> Result<(), Failure> {
    let destination = args.source.destination(Some(&args.output))?;
    let recording = args.source.open()?;
    let ranges = ranges(&recording, args)?;
    let cut = cut(&recording.snapshot, &ranges, args.options());
    let is_packed = args.output.extension().is_some_and(|extension| extension == "gz");
    destination.write(|out| {
        if is_packed {
            let mut packed = GzEncoder::new(out, Compression::default());
            cut.write(&mut packed)?;
            packed.finish()?;
            return Ok(());
        }
        Ok(cut.write(out)?)
    })?;
    notice_lost(cut.lost);
    summary(&recording, &cut, &args.output);
    Ok(())
}

/// The events and allocations of each device that are kept.
fn ranges(recording: &Opened<'_>, args: &CutArgs) -> Result<Vec<DeviceRange>, Failure> {
    let found = args.device.each_range(recording, args.range.as_ref())?;
    let Some(filter) = &args.filter else {
        let whole = |(recording, events)| DeviceRange { recording, events, matches: None };
        return Ok(found.into_iter().map(whole).collect());
    };
    let facts = recording.facts();
    let filtered = found.into_iter().map(|(recording, events)| {
        let attribution = Attribution::of_device(&facts, &recording);
        let prepared = Prepared::with_attribution(filter, &recording, &attribution);
        let matches = matches(&prepared, &recording, Moment(events.end));
        DeviceRange { recording, events, matches: Some(matches) }
    });
    Ok(filtered.collect())
}

/// Say what the cut does not show as the recording does.
fn notice_lost(Lost { outside_blocks, hidden_blocks }: Lost) {
    if outside_blocks != 0 {
        stderr::notice(&format!(
            "{} blocks lie in no known segment; they are written as segments of their own",
            units::count(outside_blocks)
        ));
    }
    if hidden_blocks != 0 {
        stderr::notice(&format!("{} blocks overlap others and are left out", units::count(hidden_blocks)));
    }
}

/// Say how much was written, unless the snapshot itself goes to standard output.
fn summary(recording: &Opened<'_>, cut: &Cut<'_>, output: &Path) {
    if output == Path::new("-") {
        return;
    }
    let all: usize = recording.snapshot.timelines.iter().map(|timeline| timeline.events.len()).sum();
    stderr::notice(&format!(
        "{}: {} of {} events, {} segments",
        output.display(),
        units::count(cut.events() as u64),
        units::count(all as u64),
        units::count(cut.segments() as u64),
    ));
}
