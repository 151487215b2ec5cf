//! `oomscope check`: limits for recordings, for tests of training code.

mod baseline;
mod limits;

use crate::cli::failure::Failure;
use crate::cli::select::{Files, RulesFile, no_memory, parse_bytes};
use crate::cli::{loading, output};
use baseline::Baseline;
use clap::{ArgGroup, Args};
use limits::{Limits, Outcome};
use oomscope_analysis::comparison::{GateItem, GateRow};
use oomscope_model::{Action, Bytes, DeviceId, Recording, Snapshot, Timeline, Trust, Why};
use oomscope_report::{
    GateFailure, GateLine, GateReport, GrownRow, gate_github, gate_json, gate_junit, gate_markdown,
    gate_name, gate_source, gate_text, trust_sentences,
};
use oomscope_snapshot::load::Input;
use oomscope_units as units;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Exit code when a limit is exceeded.
const EXCEEDED: u8 = 3;

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("limits").required(true).multiple(true),
    override_usage = "oomscope check [OPTIONS] <LIMIT>... <FILE>...",
    mut_arg("rules", |arg| arg.requires("baseline")),
    after_help = "Examples:
  oomscope check run.pickle --no-oom
  oomscope check rank*.pickle --max-peak 60GiB --max-reserved 70GiB
  oomscope check run.pickle --max-peak 60GiB --format junit > memory.xml
  # Figures to keep in the repository, and a comment that says what grew:
  oomscope stats good.pickle --format json > base.json
  oomscope check run.pickle --baseline base.json --format markdown > comment.md

A limit is --max-peak, --max-reserved, --baseline or --no-oom, and at least one is required. With a \
baseline, nothing may grow by more than the tolerance: the peak, reserved memory, each category and each \
line of code at the peak. Pinned host memory is not checked.

The exit code is 0 if all limits hold, and 3 if one is exceeded. Otherwise it is 1 if a file cannot be read, \
or cannot be judged because it is damaged, contradicts itself, has no history or, with --complete, may have \
missed the peak."
)]
pub(in crate::cli) struct CheckArgs {
    #[command(flatten)]
    files: Files,
    /// Fail if more was active on a device, in bytes as requested, such as 60GiB
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, group = "limits")]
    max_peak: Option<Bytes>,
    /// Fail if more was reserved on a device, such as 70GiB
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, group = "limits")]
    max_reserved: Option<Bytes>,
    /// Fail if anything grew compared with this snapshot, or the JSON of 'oomscope stats'
    #[arg(long, value_name = "FILE", group = "limits")]
    baseline: Option<PathBuf>,
    /// Allow growth by this share of the peak of the baseline
    ///
    /// For reserved memory, it is a share of the reserved memory of the baseline.
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = parse_percent)]
    tolerance: f64,
    #[command(flatten)]
    rules: RulesFile,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Fail if any request failed
    #[arg(long, group = "limits")]
    no_oom: bool,
    /// Refuse recordings that may have missed the peak
    ///
    /// The peak is certain if no memory was in use before the recording, or if the file has PyTorch's own counters of
    /// the peaks.
    #[arg(long)]
    complete: bool,
    /// Accept the figures of recordings that contradict themselves
    #[arg(long)]
    allow_contradictions: bool,
}

/// How the outcome is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A line for each limit
    #[default]
    Text,
    /// A comment for a merge request, with a table of what grew
    Markdown,
    /// Workflow commands of GitHub Actions: annotations at the lines of code
    Github,
    /// XML that GitLab and Jenkins show as tests
    Junit,
    /// For scripts: docs/json.md
    Json,
}

/// Parse a part of a whole: `1%`, or `0.01`.
fn parse_percent(text: &str) -> Result<f64, String> {
    let (number, parts) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let part: Option<f64> = number.trim().parse().ok().map(|number: f64| number / parts);
    let part = part.filter(|part| part.is_finite() && 0.0 <= *part);
    part.ok_or_else(|| "expected a part such as 1% or 0.01".to_owned())
}

/// A device that is checked.
struct Checked<'a> {
    /// The file, as it was named.
    name: &'a str,
    device: DeviceId,
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
    /// All of it, for formats that need it whole.
    report: GateReport,
    format: Format,
}

impl Verdict {
    fn add(&mut self, out: &mut dyn Write, checked: &Checked<'_>, outcome: Outcome) {
        let Outcome { check, name, text, holds, bytes, limit_bytes, source } = outcome;
        self.is_exceeded |= !holds;
        let (file, device) = (checked.name.to_owned(), checked.device);
        let line = GateLine { file, device, check, name, text, holds, bytes, limit_bytes, source };
        if self.format == Format::Text {
            let word = if holds { "ok" } else { "EXCEEDED" };
            self.write(|| writeln!(out, "{word}: {}: {}", line.place(), line.text));
        } else {
            self.report.lines.push(line);
        }
    }

    fn fail(&mut self, name: &str, failure: &Failure) {
        failure.report();
        self.is_incomplete = true;
        if let Failure::Message { message, hint } = failure {
            let (file, message, hint) = (name.to_owned(), message.clone(), hint.clone());
            self.report.failures.push(GateFailure { file, message, hint });
        }
    }

    /// Write what was collected.
    fn write_report(&mut self, out: &mut dyn Write) {
        let workspace = std::env::var_os("GITHUB_WORKSPACE").map(PathBuf::from);
        let report = std::mem::take(&mut self.report);
        let format = self.format;
        self.write(|| match format {
            Format::Text => Ok(()),
            Format::Markdown => out.write_all(gate_markdown(&report).as_bytes()),
            Format::Github => out.write_all(gate_github(&report, workspace.as_deref()).as_bytes()),
            Format::Junit => out.write_all(gate_junit(&report)?.as_bytes()),
            Format::Json => gate_json(out, &report),
        });
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
    let read_baseline =
        |path| Baseline::read(path, args.rules.read(&args.files.paths)?, args.allow_contradictions);
    let baseline = args.baseline.as_deref().map(read_baseline).transpose()?;
    let mut verdict = Verdict { format: args.format, ..Verdict::default() };
    for path in &args.files.paths {
        let name = units::printable(&Input::from_arg(path).name());
        if let Err(failure) = check(&mut out, &mut verdict, args, baseline.as_ref(), path) {
            verdict.fail(&name, &failure);
        }
    }
    verdict.write_report(&mut out);
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
    let limits = Limits { max_peak: args.max_peak, max_reserved: args.max_reserved, no_oom: args.no_oom };
    for recording in devices(&snapshot) {
        has_end(&recording, &name)?;
        if let Err(failure) = has_history(&recording, &name) {
            verdict.fail(&name, &failure);
            continue;
        }
        let checked = Checked { name: &name, device: recording.device };
        let place = format!("{name}, {}", recording.device);
        for limit in limits.of(&recording) {
            // Whatever is missing, what was recorded is above the limit.
            let is_sure = !limit.outcome.holds && !limit.trust.is_unknown();
            match tells(args, &recording, limit.trust, &place) {
                Err(failure) if !is_sure => verdict.fail(&name, &failure),
                _ => verdict.add(out, &checked, limit.outcome),
            }
        }
        if let Some(baseline) = baseline {
            let trust = recording.trust.peak_in_use.and(recording.trust.peak_reserved);
            match tells(args, &recording, trust, &place) {
                Ok(()) => against(out, verdict, &checked, &baseline.rows(&recording, args.tolerance)?),
                Err(failure) => verdict.fail(&name, &failure),
            }
        }
    }
    Ok(())
}

/// Write what grew since the baseline, and the figures of the whole in any case.
fn against(out: &mut dyn Write, verdict: &mut Verdict, checked: &Checked<'_>, rows: &[GateRow]) {
    for row in rows {
        let is_whole = matches!(row.item, GateItem::Peak | GateItem::Reserved);
        if is_whole || row.is_exceeded || row.is_judged_differently {
            let outcome = Outcome {
                check: "baseline",
                name: gate_name(&row.item),
                text: gate_text(row),
                holds: !row.is_exceeded,
                bytes: Some(row.now_bytes),
                limit_bytes: Some(row.before_bytes),
                source: gate_source(&row.item),
            };
            verdict.add(out, checked, outcome);
        }
        if row.is_exceeded {
            let (file, device) = (checked.name.to_owned(), checked.device);
            verdict.report.grown.push(GrownRow { file, device, row: row.clone() });
        }
    }
}

/// The GPUs of a snapshot. Limits are about them, not about pinned host memory.
fn devices(snapshot: &Arc<Snapshot>) -> impl Iterator<Item = Recording> + use<> {
    Recording::all(snapshot).filter(|recording| recording.device != DeviceId::HOST)
}

/// Refuse a file without its end: its figures are too small, so it could pass wrongly.
fn has_end(timeline: &Timeline, name: &str) -> Result<(), Failure> {
    if !timeline.trust.whys().iter().any(|why| matches!(why, Why::Damaged | Why::EndMissing)) {
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

/// Refuse a figure that the recording does not tell.
fn tells(args: &CheckArgs, recording: &Recording, trust: Trust, place: &str) -> Result<(), Failure> {
    let hint = match trust {
        Trust::Unknown(_) if !args.allow_contradictions => {
            "write the snapshot again; --allow-contradictions goes by its figures all the same"
        }
        Trust::AtLeast(_) if args.complete => {
            "record from the start of the program, with room for all events; without --complete, what was recorded counts"
        }
        _ => return Ok(()),
    };
    let why = trust_sentences(recording).join(". ");
    Err(Failure::new(format_args!("{place}: does not tell. {why}"), hint))
}
