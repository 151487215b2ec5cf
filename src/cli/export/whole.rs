//! Formats that are one file without tables.

use super::args::ExportArgs;
use super::progress_bar::with_bar;
use super::selection::{Otherwise, selection};
use crate::cli::failure::Failure;
use crate::interchange::WriteWhole;

/// Write stacks: of the moment or the range, else of the OOM or the peak.
pub(super) fn stacks(args: &ExportArgs, write: WriteWhole) -> Result<(), Failure> {
    run(args, write, Otherwise::OomOrPeak)
}

fn run(args: &ExportArgs, write: WriteWhole, otherwise: Otherwise) -> Result<(), Failure> {
    if args.table.is_some() {
        return Err(Failure::new(
            format_args!("--format {} has no tables", args.format.name),
            "leave out --table, or use --format csv",
        ));
    }
    let destination = args.source.destination(args.output.as_deref())?;
    let recording = args.source.open()?;
    let selection = selection(args, &recording, otherwise)?;
    let mut out = destination.open()?;
    with_bar(selection.steps(), "steps", |progress| write(&selection, &mut out, progress))?;
    out.finish()
}
