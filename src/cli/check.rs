//! `oomscope check`: limits for recordings, for tests of training code.

use super::failure::Failure;
use super::select::{Files, no_memory, parse_bytes};
use super::{loading, output};
use crate::load::Input;
use crate::model::{Action, Anchor, DeviceId, Moment, Snapshot, Timeline};
use crate::units;
use clap::{ArgGroup, Args};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Exit code when a limit is exceeded.
const EXCEEDED: u8 = 3;

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("limits").required(true).multiple(true),
    after_help = "Examples:
  oomscope check snapshot.pickle --no-oom
  oomscope check rank*.pickle --max-peak 60GiB --max-reserved 70GiB

Prints a line for each device and limit. Exit codes: 0 all limits hold, 3 one is exceeded, else 1 if a
file cannot be read or does not tell. Pinned host memory is not checked."
)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    files: Files,
    /// The most bytes that may be active, as requested, on each device
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, group = "limits")]
    max_peak: Option<i64>,
    /// The most bytes that may be reserved on each device
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, group = "limits")]
    max_reserved: Option<i64>,
    /// No request may have failed
    #[arg(long, group = "limits")]
    no_oom: bool,
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
}

impl Verdict {
    fn add(&mut self, out: &mut dyn Write, place: &str, outcome: &Outcome) {
        self.is_exceeded |= !outcome.holds;
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

pub(super) fn run(args: &CheckArgs) -> Result<(), Failure> {
    let mut out = output::stdout();
    let mut verdict = Verdict::default();
    for path in &args.files.paths {
        if let Err(failure) = check(&mut out, &mut verdict, args, path) {
            verdict.fail(&failure);
        }
    }
    verdict.write(|| out.flush());
    verdict.end()
}

fn check(out: &mut dyn Write, verdict: &mut Verdict, args: &CheckArgs, path: &Path) -> Result<(), Failure> {
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
    }
    Ok(())
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
