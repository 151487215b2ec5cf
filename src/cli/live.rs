//! `oomscope live`.

use super::failure::Failure;
use super::select::{Opened, Selected, Source, Target, parse_filter, with_filters, with_moments};
use super::stderr;
use super::terminal::output_style;
use clap::{Args, ValueEnum};
use oomscope_analysis::filter::{Filter, Prepared};
use oomscope_analysis::{Attribution, Facts};
use oomscope_report as report;
use oomscope_report::LiveSet;
use std::io::Write;
use std::path::PathBuf;

/// Number of rows of the table without `--top`: about one screen.
const TEXT_ROWS: usize = 30;

/// Arguments of `live`.
#[derive(Debug, Args)]
#[command(
    mut_arg("at", |arg| with_moments(arg.help("Moment to look at").default_value("peak"))),
    mut_arg("device", |arg| arg.help("Only this device, -1 for pinned host memory [default: all]")),
    mut_arg("filter", with_filters),
    after_help = "Examples:
  oomscope live oom.pickle --at oom --top 20
  oomscope live oom.pickle --at 41220 --device 1 --format csv -o live.csv
  oomscope live oom.pickle --format json | jq 'map(.size) | add'
  oomscope live oom.pickle --at oom --filter 'size>100MB stack:attention'
  # Made by a forward pass, and live at the peak of the fourth iteration:
  oomscope live run.pickle --at peak-of:iteration:3 --filter phase:forward

Sizes are as requested, before the allocator rounds them, except for pinned host memory, whose sizes are \
rounded to powers of two. Stacks are innermost first, and empty if none was recorded."
)]
pub(super) struct LiveArgs {
    #[command(flatten)]
    target: Target,
    /// List only allocations that match, such as 'size>100MB attention lifetime<10ms -kept'
    #[arg(long, value_name = "QUERY", value_parser = parse_filter, allow_hyphen_values = true)]
    filter: Option<Filter>,
    #[command(flatten)]
    source: Source,
    /// List only the N largest [default: 30 as text, all otherwise]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Write at most N frames of each stack to JSON and CSV, innermost first
    ///
    /// `frames_left_out` counts the others.
    #[arg(long, value_name = "N", default_value_t = 32)]
    frames: usize,
    /// Output file, overwritten if it exists; '-' is standard output [default: -]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Csv,
}

pub(super) fn run(args: &LiveArgs) -> Result<(), Failure> {
    let destination = args.source.destination(args.output.as_deref())?;
    let recording = args.source.open()?;
    destination.write(|out| write(out, args, &recording, &stderr::notice))
}

/// Write what is live in a recording. Notes on doubtful terms of the filter go to `notice`.
pub(super) fn write(
    out: &mut dyn Write,
    args: &LiveArgs,
    recording: &Opened<'_>,
    notice: &dyn Fn(&str),
) -> Result<(), Failure> {
    let sets = live_sets(recording, args, notice)?;
    let default_top = if args.format == Format::Text { TEXT_ROWS } else { usize::MAX };
    let rows = report::live_rows(&sets, args.top.unwrap_or(default_top));
    match args.format {
        Format::Text => {
            report::live_text(out, &recording.snapshot, &sets, &rows, output_style(args.output.as_deref()))?;
        }
        Format::Json => report::live_json(out, &sets, &rows, args.frames)?,
        Format::Csv => report::live_csv(out, &sets, &rows, args.frames)?,
    }
    Ok(())
}

/// The live allocations of each device that is asked for.
fn live_sets(
    recording: &Opened<'_>,
    args: &LiveArgs,
    notice: &dyn Fn(&str),
) -> Result<Vec<LiveSet>, Failure> {
    let selected = args.target.each_at_same(recording)?;
    let facts = recording.facts();
    Ok(selected.into_iter().map(|selected| live_set(selected, args, &facts, notice)).collect())
}

fn live_set(
    Selected { device: recording, moment, .. }: Selected,
    args: &LiveArgs,
    facts: &Facts,
    notice: &dyn Fn(&str),
) -> LiveSet {
    let found = Attribution::of_device(facts, &recording);
    let matches = args.filter.as_ref().map(|filter| {
        let prepared = Prepared::with_attribution(filter, &recording, &found);
        prepared.notes().iter().for_each(|note| notice(&format!("{}: {note}", recording.device)));
        prepared.matches(&recording, moment)
    });
    LiveSet { recording, moment, matches, categories: found.categories }
}
