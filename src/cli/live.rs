//! `oomscope live`.

use super::output::Target;
use super::{Failure, loading, output, rules};
use crate::analysis::filter::{Filter, Prepared};
use crate::analysis::{At, Attribution, Facts, MomentError, UserRules, resolve};
use crate::model::{DeviceId, Moment, Snapshot, Timeline};
use crate::report::{self, LiveSet};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Rows of the table where `--top` does not say.
const TEXT_ROWS: usize = 30;

/// Arguments of `live`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oomscope live snapshot.pickle --at oom --top 20
  oomscope live snapshot.pickle --at 41220 --device 1 --format csv > live.csv
  oomscope live snapshot.pickle --format json | jq 'map(.size) | add'
  oomscope live snapshot.pickle --at oom --filter 'size>100MB stack:attention'

Sizes are in bytes as requested, without rounding. Stacks are innermost first, and empty where none
was recorded; 'frames_left_out' counts the frames that --frames does not show.")]
pub(super) struct LiveArgs {
    /// A snapshot; '-' is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The moment: peak (most bytes active), oom (the last one), end, or after an event's number
    #[arg(long, value_name = "peak|oom|end|EVENT", default_value = "peak", value_parser = parse_at)]
    at: At,
    /// Only this device; -1 is pinned host memory
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    device: Option<i64>,
    /// Only what matches: 'size>100MB attention stream:7 pool:private lifetime<10ms -kept', as in the window
    #[arg(long, value_name = "QUERY", value_parser = parse_filter, allow_hyphen_values = true)]
    filter: Option<Filter>,
    /// Your own rules for categories, a TOML file; they come before all others
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Only the N largest
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// At most N frames of each stack, innermost first; JSON and CSV say how many are left out
    #[arg(long, value_name = "N", default_value_t = 32)]
    frames: usize,
    /// The file to write; an existing one is replaced. Without it, or as '-', standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// How to write it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Csv,
}

pub(super) fn parse_at(text: &str) -> Result<At, String> {
    match text {
        "peak" => Ok(At::Peak),
        "oom" => Ok(At::Oom),
        "end" => Ok(At::End),
        _ => text
            .parse()
            .map(At::Event)
            .map_err(|e| format!("expected peak, oom, end or an event's number: {e}")),
    }
}

pub(super) fn parse_filter(text: &str) -> Result<Filter, String> {
    Filter::parse(text).map_err(|error| {
        let part = text.get(error.range.clone()).unwrap_or_default();
        format!("at {part:?}: {error}")
    })
}

pub(super) fn run(args: &LiveArgs) -> Result<(), Failure> {
    let target = Target::new(args.output.as_deref(), &args.file, args.rules.as_deref())?;
    let rules = rules::read(args.rules.as_deref(), &[&args.file])?;
    let snapshot = loading::load(&args.file)?;
    let sets = live_sets(&snapshot, args, &rules)?;
    let default_top = if args.format == Format::Text { TEXT_ROWS } else { usize::MAX };
    let rows = report::live_rows(&sets, args.top.unwrap_or(default_top));
    target.write(|out| {
        match args.format {
            Format::Text => report::live_text(out, &snapshot, &sets, &rows),
            Format::Json => report::live_json(out, &snapshot, &sets, &rows, args.frames),
            Format::Csv => report::live_csv(out, &snapshot, &sets, &rows, args.frames),
        }
        .map_err(Failure::from)
    })
}

/// The moment on each device that is asked for. Without `--device`, devices that do not have the
/// moment are left out, as long as one has it.
fn live_sets<'a>(
    snapshot: &'a Snapshot,
    args: &LiveArgs,
    rules: &UserRules,
) -> Result<Vec<LiveSet<'a>>, Failure> {
    let timelines = match args.device {
        None => snapshot.timelines.iter().collect(),
        Some(device) => vec![snapshot.timeline(DeviceId(device)).ok_or_else(|| no_device(snapshot, device))?],
    };
    if matches!(args.at, At::Event(_)) && 1 < timelines.len() {
        let devices = device_list(snapshot);
        return Err(Failure::new(
            "an event's number means another moment on each device",
            format!("add --device ({devices})"),
        ));
    }
    let resolved: Vec<(&Timeline, Result<_, MomentError>)> =
        timelines.into_iter().map(|t| (t, resolve(args.at, t))).collect();
    let facts = Facts::of(snapshot, rules);
    let sets: Vec<LiveSet<'_>> = resolved
        .iter()
        .filter_map(|&(timeline, moment)| {
            moment.ok().map(|moment| live_set(snapshot, timeline, moment, args, &facts))
        })
        .collect();
    match (sets.is_empty(), resolved.into_iter().find_map(|(_, moment)| moment.err())) {
        (true, Some(error)) => Err(Failure::new(
            format_args!("{}: {error}", args.file.display()),
            "use --at peak or --at end, or an event that 'oomscope stats' counts",
        )),
        _ => Ok(sets),
    }
}

fn live_set<'a>(
    snapshot: &Snapshot,
    timeline: &'a Timeline,
    moment: Moment,
    args: &LiveArgs,
    facts: &Facts,
) -> LiveSet<'a> {
    let categories = Attribution::of_device(facts, snapshot, timeline).categories;
    let matches = args.filter.as_ref().map(|filter| {
        let prepared = Prepared::with_categories(filter, snapshot, timeline, &categories);
        for note in prepared.notes() {
            output::notice(&format!("{}: {note}", timeline.device));
        }
        prepared.matches(timeline, moment)
    });
    LiveSet { timeline, moment, matches, categories }
}

pub(super) fn no_device(snapshot: &Snapshot, device: i64) -> Failure {
    Failure::new(
        format_args!("device {device} is not in the snapshot"),
        format!("it has {}", device_list(snapshot)),
    )
}

fn device_list(snapshot: &Snapshot) -> String {
    let names: Vec<String> = snapshot.timelines.iter().map(|t| t.device.0.to_string()).collect();
    if names.is_empty() { "no device".to_owned() } else { format!("devices {}", names.join(", ")) }
}
