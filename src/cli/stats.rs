//! `oomscope stats`.

use super::failure::Failure;
use super::loading::Loaded;
use super::output::{self, TextOrJson};
use super::select::{Files, NamedMoment, RulesFile, parse_at, parse_filter, with_filters, with_moments};
use super::stderr;
use super::terminal::stdout_style;
use clap::Args;
use oomscope_analysis::filter::Filter;
use oomscope_analysis::{Phases, UserRules};
use oomscope_model::{DeviceId, Moment, Recording, Snapshot};
use oomscope_report as report;
use oomscope_report::StatsRequest;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Arguments of `stats`.
#[derive(Debug, Args)]
#[command(
    mut_arg("at", with_moments),
    mut_arg("filter", with_filters),
    after_help = "Examples:
  oomscope stats oom.pickle                      # a short summary
  oomscope stats rank*.pickle --format json      # the same for programs
  ssh node cat oom.pickle | oomscope stats -     # a file on another machine
  oomscope stats oom.pickle --modules --at oom   # memory by module
  oomscope stats oom.pickle --summary --at oom   # as memory_summary() prints it
  # The large allocations of the backward pass, and a table of iterations:
  oomscope stats oom.pickle --iterations --filter 'phase:backward size>100MB'

The JSON is an array with a record for each device of each file. Sizes are in bytes, and event -1 is the \
state before the first event. A file that cannot be read is reported on standard error and left out, and \
the exit code is then 1."
)]
pub(super) struct StatsArgs {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    rules: RulesFile,
    /// Add a table of modules: parameters, gradients, optimizer state and activations
    ///
    /// The table shows the peak, or the moment of --at. JSON always has it.
    #[arg(long)]
    modules: bool,
    /// Add a table of iterations: phases, peak, and what each left behind
    ///
    /// JSON always has it.
    #[arg(long)]
    iterations: bool,
    /// Print the table of `torch.cuda.memory_summary()` instead
    ///
    /// It is what the function would have returned at the end of the recording, or at the moment of --at. JSON has the
    /// figures in addition to all others.
    #[arg(long)]
    summary: bool,
    /// Also describe this moment
    #[arg(long, value_name = "MOMENT", value_parser = parse_at)]
    at: Option<NamedMoment>,
    /// Add up the allocations that match, such as 'size>100MB attention iteration:3 -kept'
    #[arg(long, value_name = "QUERY", value_parser = parse_filter, allow_hyphen_values = true)]
    filter: Option<Filter>,
    /// Print only this device, -1 for pinned host memory [default: all]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    device: Option<i64>,
    /// Output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

pub(super) fn run(args: &StatsArgs) -> Result<(), Failure> {
    let rules = args.rules.read(&args.files.paths)?;
    let mut out = output::stdout();
    let mut files = Loaded::new(&args.files.paths);
    let written = with_request(args, &rules, &stderr::notice, |request| match args.format {
        TextOrJson::Text => text(&mut out, &mut files, request),
        TextOrJson::Json => json(&mut out, &mut files, request),
    });
    files.end(written)
}

/// Write the figures of an open recording as JSON. A device that lacks the moment is told to `notice`.
#[cfg(feature = "mcp")]
pub(super) fn write_json(
    out: &mut dyn Write,
    args: &StatsArgs,
    recording: &super::select::Opened<'_>,
    notice: &dyn Fn(&str),
) -> Result<(), Failure> {
    let file = (recording.file.display().to_string(), Arc::clone(&recording.snapshot));
    with_request(args, &recording.rules, notice, |request| {
        Ok(report::stats_json(out, std::iter::once(file), request)?)
    })
}

/// Say what the user asks for.
fn with_request(
    args: &StatsArgs,
    rules: &UserRules,
    notice: &dyn Fn(&str),
    answer: impl FnOnce(StatsRequest<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let find = |device: &Recording, phases: &Phases| -> Option<Moment> {
        let found = args.at.as_ref()?.moment(device, phases);
        found.inspect_err(|lacking| notice(&format!("{}: {lacking}", device.device))).ok()
    };
    answer(StatsRequest {
        at: args.at.is_some().then_some(&find as _),
        filter: args.filter.as_ref(),
        has_modules: args.modules,
        has_iterations: args.iterations,
        has_summary: args.summary,
        device: args.device.map(DeviceId),
        style: stdout_style(),
        ..StatsRequest::new(rules)
    })
}

/// Write the figures of each file, with an empty line between files.
pub(super) fn text(
    out: &mut dyn Write,
    files: &mut Loaded<'_>,
    request: StatsRequest<'_>,
) -> Result<(), Failure> {
    for (i, (path, snapshot)) in files.enumerate() {
        mention_missing(path, &snapshot, request.device);
        if i != 0 {
            writeln!(out)?;
        }
        report::stats_text(out, &path.display().to_string(), &snapshot, request)?;
    }
    Ok(out.flush()?)
}

fn json(out: &mut dyn Write, files: &mut Loaded<'_>, request: StatsRequest<'_>) -> Result<(), Failure> {
    let named = |(path, snapshot): (&Path, _)| {
        mention_missing(path, &snapshot, request.device);
        (path.display().to_string(), snapshot)
    };
    let mut files = files.map(named).peekable();
    // If no file can be read, an empty array would look like an answer.
    if files.peek().is_some() {
        report::stats_json(out, files, request)?;
    }
    Ok(out.flush()?)
}

/// Say that a file lacks the device that was asked for.
fn mention_missing(path: &Path, snapshot: &Arc<Snapshot>, device: Option<DeviceId>) {
    let Some(device) = device else { return };
    if !Recording::all(snapshot).any(|recording| recording.device == device) {
        stderr::notice(&format!("{} has no {device}", path.display()));
    }
}
