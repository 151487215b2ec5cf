//! Formats that are one file without tables.

use super::args::ExportArgs;
use super::profile;
use super::selection::{Otherwise, selection};
use crate::cli::failure::Failure;
use crate::cli::progress_bar::with_bar;
use oomscope_export::interchange::WriteWhole;

/// Write stacks: of the moment or the range, else of the OOM or the peak.
pub(super) fn stacks(args: &ExportArgs, write: WriteWhole) -> Result<(), Failure> {
    run(args, write, Otherwise::OomOrPeak)
}

/// Write all tables as one file.
pub(super) fn database(args: &ExportArgs, write: WriteWhole) -> Result<(), Failure> {
    run(args, write, Otherwise::Whole)
}

/// Write a trace, maybe with one of torch.profiler beside it.
pub(super) fn trace(args: &ExportArgs, write: WriteWhole) -> Result<(), Failure> {
    run(args, write, Otherwise::Whole)
}

fn run(args: &ExportArgs, write: WriteWhole, otherwise: Otherwise) -> Result<(), Failure> {
    let destination = args.source.destination_beside(args.output.as_deref(), args.profile.as_deref())?;
    let profile = args.profile.as_deref().map(profile::read).transpose()?;
    let recording = args.source.open()?;
    let mut selection = selection(args, &recording, otherwise)?;
    selection.profile = profile;
    profile::check(&selection);
    let mut out = destination.open()?;
    let mut budget = args.max_output.budget(&recording);
    with_bar(selection.steps(), "steps", |progress| {
        write(&selection, &mut budget.within(&mut out), progress)
    })?;
    out.finish()
}
