//! `oomscope report`.

use super::live::{no_device, parse_at};
use super::open::parse_bytes;
use super::output::Target;
use super::{Failure, loading, rules};
use crate::analysis::{At, Attribution, UserRules};
use crate::diagnosis::{Question, diagnose};
use crate::export::report_pictures;
use crate::load::Input;
use crate::model::{DeviceId, Moment, Snapshot, Timeline};
use crate::report::{Document, Picture, ReportInput};
use crate::{report, units};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::sync::Arc;

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oomscope report snapshot.pickle                                 what happened, and what to do
  oomscope report snapshot.pickle --format markdown -o issue.md   for a ticket, at most 60,000 characters
  oomscope report snapshot.pickle --format html --redact -o report.html
  oomscope report snapshot.pickle --format json | jq '.findings[0] | .id, .evidence.sites[0]'

The first finding is the verdict: capacity, fragmentation, single-request, outside-pytorch, leak, or none
when the recording shows nothing wrong. docs/report.md describes the JSON.")]
pub(super) struct ReportArgs {
    /// A snapshot; '-' is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// How to write it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The file to write; an existing one is replaced. Without it, or as '-', standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// The moment: peak (most bytes active), oom (the last one), end, or after an event's number; else the
    /// OOM or the peak
    #[arg(long, value_name = "peak|oom|end|EVENT", value_parser = parse_at)]
    at: Option<At>,
    /// This device instead of the one with an OOM or with most events; -1 is pinned host memory
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    device: Option<i64>,
    /// Memory of the device, which no recording states: 80GiB. Tells what is held outside of PyTorch
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    capacity: Option<i64>,
    /// How many lines of code, stacks and allocations each finding lists
    #[arg(long, value_name = "N", default_value_t = 8)]
    top: usize,
    /// Your own rules for categories, a TOML file; they come before all others
    #[arg(long, value_name = "TOML")]
    rules: Option<PathBuf>,
    /// Leave out user names, paths and hosts; file names and lines stay
    #[arg(long)]
    redact: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Markdown,
    Html,
    Json,
}

pub(super) fn run(args: &ReportArgs) -> Result<(), Failure> {
    let target = Target::new(args.output.as_deref(), &args.file, args.rules.as_deref())?;
    let rules = rules::read(args.rules.as_deref(), &[&args.file])?;
    let snapshot = loading::load(&args.file)?;
    let bytes = contents(args, &snapshot, &rules)?;
    target.write(|out| Ok(out.write_all(&bytes)?))
}

fn contents(args: &ReportArgs, snapshot: &Arc<Snapshot>, rules: &UserRules) -> Result<Vec<u8>, Failure> {
    let timeline = timeline(args, snapshot)?;
    let question = Question { at: args.at, device_memory: args.capacity };
    let attribution = Arc::new(Attribution::of(snapshot, timeline, rules));
    let diagnosis = diagnose(snapshot, timeline, &attribution, question).map_err(|e| {
        let hint = "use --at peak or --at end, or an event that 'oomscope stats' counts";
        Failure::new(format_args!("{}: {e}", args.file.display()), hint)
    })?;
    let name = Input::from_arg(&args.file).name();
    let input = ReportInput {
        name: &name,
        snapshot,
        timeline,
        diagnosis: &diagnosis,
        top: args.top,
        redacted: args.redact,
    };
    let document = Document::new(&input);
    let mut out = Vec::new();
    match args.format {
        Format::Text => report::report_text(&mut out, &document)?,
        Format::Markdown => out.extend(report::report_markdown(&document).bytes()),
        Format::Json => report::report_json(&mut out, &document)?,
        Format::Html => {
            let pictures = pictures(args, snapshot, timeline, &attribution, diagnosis.at.moment, &name)?;
            out.extend(report::report_html(&document, &pictures).bytes());
        }
    }
    Ok(out)
}

fn timeline<'a>(args: &ReportArgs, snapshot: &'a Snapshot) -> Result<&'a Timeline, Failure> {
    match args.device {
        Some(device) => snapshot.timeline(DeviceId(device)).ok_or_else(|| no_device(snapshot, device)),
        None => snapshot.main_timeline().ok_or_else(|| {
            let what = format!("{}: the snapshot holds no memory of any device", args.file.display());
            Failure::new(what, "record it on a machine with a GPU")
        }),
    }
}

fn pictures(
    args: &ReportArgs,
    snapshot: &Arc<Snapshot>,
    timeline: &Timeline,
    attribution: &Arc<Attribution>,
    moment: Moment,
    name: &str,
) -> Result<Vec<Picture>, Failure> {
    let name = if args.redact { units::basename(name) } else { name };
    report_pictures(snapshot, timeline.device, attribution, moment, name)
        .map_err(|e| Failure::new(format_args!("{}: {e}", args.file.display()), "use another format"))
}
