//! `oomscope check`: limits for recordings, for tests of training code.

mod baseline;

use crate::analysis::comparison::{GateItem, GateRow};
use crate::cli::failure::Failure;
use crate::cli::select::{Files, RulesFile, no_memory, parse_bytes};
use crate::cli::{loading, output};
use crate::load::Input;
use crate::model::{Action, Anchor, DeviceId, Moment, Snapshot, Timeline};
use crate::report::{GateLine, gate_markdown, gate_text};
use crate::units;
use baseline::Baseline;
use clap::{ArgGroup, Args};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Exit code when a limit is exceeded.
const EXCEEDED: u8 = 3;

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("limits").required(true).multiple(true),
    mut_arg("rules", |arg| arg.value_name("FILE").requires("baseline")),
    after_help = "Examples:
  oomscope check snapshot.pickle --no-oom
  oomscope check rank*.pickle --max-peak 60GiB --max-reserved 70GiB
  oomscope stats good.pickle --format json > baseline.json    figures to keep in the repository
  oomscope check run.pickle --baseline baseline.json --tolerance 2% --format markdown > comment.md

Prints a line for each device and limit. Exit codes: 0 all limits hold, 3 one is exceeded, else 1 if a
file cannot be read or does not tell. Against a baseline, nothing may grow by more than the tolerance: the
peak, reserved memory, each category and each line of code at the peak. Pinned host memory is not checked."
)]
pub(in crate::cli) struct CheckArgs {
    #[command(flatten)]
    files: Files,
    /// The most bytes that may be active, as requested, on each device
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, group = "limits")]
    max_peak: Option<i64>,
    /// The most bytes that may be reserved on each device
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, group = "limits")]
    max_reserved: Option<i64>,
    /// Nothing may have grown since this recording: a snapshot, or the JSON of 'stats' about one
    #[arg(long, value_name = "BASE", group = "limits")]
    baseline: Option<PathBuf>,
    /// How much may have grown: a part of the baseline's peak or, of reserved memory, of its reserved memory
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = parse_percent)]
    tolerance: f64,
    #[command(flatten)]
    rules: RulesFile,
    /// How to write it: text, or Markdown for a comment that says what grew
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// No request may have failed
    #[arg(long, group = "limits")]
    no_oom: bool,
}

/// How the outcome is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Markdown,
}

/// Parse a part of a whole: `1%`, or `0.01`.
fn parse_percent(text: &str) -> Result<f64, String> {
    let (number, parts) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let part: Option<f64> = number.trim().parse().ok().map(|number: f64| number / parts);
    let part = part.filter(|part| part.is_finite() && 0.0 <= *part);
    part.ok_or_else(|| "expected a part such as 1% or 0.01".to_owned())
}

/// The outcome of one limit.
struct Outcome {
    /// The recorded figure beside the limit, in words.
    text: String,
    holds: bool,
}

/// The result so far. It counts even if nobody reads the lines about it, as with `check … | head -1`.
#[derive(Default)]
struct Verdict {
    /// True once a limit was exceeded.
    is_exceeded: bool,
    /// True once a file or a device could not be checked.
    is_incomplete: bool,
    /// The first error of writing a line.
    unwritten: Option<io::Error>,
    /// All lines, for Markdown.
    lines: Vec<GateLine>,
    /// What grew by more than is tolerated, with its place.
    grown: Vec<(String, GateRow)>,
    /// Whether lines are only collected.
    is_markdown: bool,
}

impl Verdict {
    fn add(&mut self, out: &mut dyn Write, place: &str, outcome: &Outcome) {
        self.is_exceeded |= !outcome.holds;
        if self.is_markdown {
            self.lines.push(GateLine {
                place: place.to_owned(),
                text: outcome.text.clone(),
                holds: outcome.holds,
            });
            return;
        }
        let word = if outcome.holds { "ok" } else { "EXCEEDED" };
        self.write(|| writeln!(out, "{word}: {place}: {}", outcome.text));
    }

    fn fail(&mut self, failure: &Failure) {
        failure.report();
        self.is_incomplete = true;
    }

    fn write(&mut self, write: impl FnOnce() -> io::Result<()>) {
        // After a failed write, as to a closed pipe, the checks go on: the exit code counts.
        if self.unwritten.is_none() {
            self.unwritten = write().err();
        }
    }

    /// The result as an exit code: an exceeded limit goes before everything else.
    fn end(self) -> Result<(), Failure> {
        let unwritten = self.unwritten.map_or(Ok(()), |error| Err(error.into()));
        if self.is_exceeded {
            unwritten.inspect_err(|failure: &Failure| _ = failure.report()).ok();
            return Err(Failure::Silent(ExitCode::from(EXCEEDED)));
        }
        if self.is_incomplete { Err(Failure::Silent(ExitCode::FAILURE)) } else { unwritten }
    }
}

pub(in crate::cli) fn run(args: &CheckArgs) -> Result<(), Failure> {
    let mut out = output::stdout();
    let read_baseline = |path| Baseline::read(path, args.rules.read(&args.files.paths)?);
    let baseline = args.baseline.as_deref().map(read_baseline).transpose()?;
    let mut verdict = Verdict { is_markdown: args.format == Format::Markdown, ..Verdict::default() };
    for path in &args.files.paths {
        if let Err(failure) = check(&mut out, &mut verdict, args, baseline.as_ref(), path) {
            verdict.fail(&failure);
        }
    }
    if verdict.is_markdown {
        let text = gate_markdown(&verdict.lines, &verdict.grown);
        verdict.write(|| out.write_all(text.as_bytes()));
    }
    verdict.write(|| out.flush());
    verdict.end()
}

fn check(
    out: &mut dyn Write,
    verdict: &mut Verdict,
    args: &CheckArgs,
    baseline: Option<&Baseline>,
    path: &Path,
) -> Result<(), Failure> {
    let snapshot = loading::load(path)?;
    let name = units::printable(&Input::from_arg(path).name());
    if devices(&snapshot).next().is_none() {
        return Err(no_memory(name, ", so nothing was checked"));
    }
    for timeline in devices(&snapshot) {
        can_tell(&snapshot, timeline, &name)?;
        if let Err(failure) = has_history(timeline, &name) {
            verdict.fail(&failure);
            continue;
        }
        let place = format!("{name}, {}", timeline.device);
        for outcome in outcomes(args, timeline) {
            verdict.add(out, &place, &outcome);
        }
        if let Some(baseline) = baseline {
            against(out, verdict, &place, &baseline.rows(&snapshot, timeline, args.tolerance)?);
        }
    }
    Ok(())
}

/// Write what grew since the baseline, and the figures of the whole in any case.
fn against(out: &mut dyn Write, verdict: &mut Verdict, place: &str, rows: &[GateRow]) {
    for row in rows {
        let is_whole = matches!(row.item, GateItem::Peak | GateItem::Reserved);
        if is_whole || row.is_exceeded || row.is_judged_differently {
            verdict.add(out, place, &Outcome { text: gate_text(row), holds: !row.is_exceeded });
        }
        if row.is_exceeded {
            verdict.grown.push((place.to_owned(), row.clone()));
        }
    }
}

/// The GPUs of a snapshot. Limits are about them, not about pinned host memory.
fn devices(snapshot: &Snapshot) -> impl Iterator<Item = &Timeline> {
    snapshot.timelines.iter().filter(|timeline| timeline.device != DeviceId::HOST)
}

/// Refuse a file without its end: its figures are too small, so it could pass wrongly.
fn can_tell(snapshot: &Snapshot, timeline: &Timeline, name: &str) -> Result<(), Failure> {
    if snapshot.damage.is_none() && timeline.anchor == Anchor::EndState {
        return Ok(());
    }
    Err(Failure::new(
        format_args!("{name}: the file is damaged, so its figures are not complete"),
        "write the snapshot again, and wait until it is written",
    ))
}

/// Refuse a recording without a history: it shows the end state alone, without peaks and failed requests.
fn has_history(timeline: &Timeline, name: &str) -> Result<(), Failure> {
    let events = &timeline.events;
    // A free of an older block, or the mark of a snapshot, is no history.
    if events.indices().any(|ix| matches!(events.action(ix), Action::Alloc | Action::Oom)) {
        return Ok(());
    }
    Err(Failure::new(
        format_args!(
            "{name}, {}: no allocations were recorded, so neither peaks nor failed requests are known",
            timeline.device
        ),
        "call torch.cuda.memory._record_memory_history() before the code that is to be checked",
    ))
}

fn outcomes(args: &CheckArgs, timeline: &Timeline) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let (at, peak) = timeline.active.peak();
    outcomes.extend(args.max_peak.map(|limit| below("peak", at, peak, limit)));
    let (at, reserved) = timeline.reserved.peak();
    outcomes.extend(args.max_reserved.map(|limit| below("reserved", at, reserved, limit)));
    if args.no_oom {
        let text = match timeline.ooms.last() {
            None => "no failed request".to_owned(),
            Some(oom) => format!(
                "{} failed, the last at event {} for {}",
                if timeline.ooms.len() == 1 {
                    "1 request".to_owned()
                } else {
                    format!("{} requests", units::count(timeline.ooms.len() as u64))
                },
                units::count(oom.event.0),
                units::bytes(oom.requested)
            ),
        };
        outcomes.push(Outcome { text, holds: timeline.ooms.is_empty() });
    }
    outcomes
}

fn below(what: &str, at: Moment, bytes: i64, limit: i64) -> Outcome {
    let holds = bytes <= limit;
    let (shown, limit_text) = (units::bytes(bytes), units::bytes(limit));
    let text = if holds {
        format!("{what} {shown} of {limit_text}")
    } else {
        let more = units::bytes(bytes.saturating_sub(limit));
        let place = at.event().map_or_else(
            || "before the first event".to_owned(),
            |e| format!("after event {}", units::count(e.0)),
        );
        format!("{what} {shown} is {more} above {limit_text}, {place}")
    };
    Outcome { text, holds }
}
