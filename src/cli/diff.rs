//! `oomscope diff`.

use super::failure::Failure;
use super::keep::kept;
use super::loading;
use super::output::{Destination, DocumentFormat};
use super::select::{Opened, RulesFile, Selected, Sides, with_moments};
use super::terminal::output_style;
use clap::Args;
use oomscope_analysis::Attribution;
use oomscope_analysis::comparison::{Side, compare};
use oomscope_export::page_colors;
use oomscope_model::{DeviceId, Timeline};
use oomscope_program::{Run, Workload};
use oomscope_remedies::{Prediction, Scene, Wanted, Wish, predict, predict_all_while};
use oomscope_report as report;
use oomscope_report::{ComparisonReport, Promise, Promises};
use oomscope_simulator::Subject;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arguments of `diff`.
#[derive(Debug, Args)]
#[command(
    mut_arg("at", with_moments),
    after_help = "Examples:
  oomscope diff old.pickle new.pickle              # why did the peak grow?
  oomscope diff a.pickle b.pickle --svg diff.svg   # the change as a flame graph
  oomscope diff fp32.pickle bf16.pickle --format markdown -o issue.md
  # Two devices, and two moments, of one file:
  oomscope diff job.pickle --device-a 0 --device-b 1
  oomscope diff oom.pickle --at-a peak-of:iteration:1 --at-b oom
  # Did the fix keep its promise?
  oomscope diff oom.pickle fixed.pickle --fix checkpoint-half
  # For programs:
  oomscope diff a.pickle b.pickle --format json | jq '.categories[].change'

The first line says where the difference comes from. The changes by category, line, module, pool and \
stream each add up to the difference of the totals. Lines are matched across edits: the same function of \
the same file, and a nearby line. Memory that both sides have, but in different categories because \
different rules decided, is listed separately and does not count as a change. docs/compare.md explains the \
tables, and docs/json.md the JSON."
)]
pub(super) struct DiffArgs {
    /// First snapshot; '-' is standard input
    #[arg(value_name = "A")]
    a: PathBuf,
    /// Second snapshot [default: A, at another moment or on another device]
    #[arg(value_name = "B")]
    b: Option<PathBuf>,
    #[command(flatten)]
    sides: Sides,
    #[command(flatten)]
    rules: RulesFile,
    /// Check what a fix of 'oomscope fixes' promised, such as sgd or sgd+zero-grad-none
    ///
    /// B is the recording with the fix, and A the one without it. '+' joins several fixes.
    #[arg(long, value_name = "ID", value_parser = wanted)]
    fix: Option<Wanted>,
    /// List at most N lines of code, operators and modules; JSON has all
    #[arg(long, value_name = "N", default_value_t = 12)]
    top: usize,
    /// Output format
    #[arg(long, value_enum, default_value_t = DocumentFormat::Text)]
    format: DocumentFormat,
    /// Also write a flame graph of the change: red where B has more, blue where it has less
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Output file, overwritten if it exists; '-' is standard output [default: -]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &DiffArgs) -> Result<(), Failure> {
    let path_b = args.b.as_deref().unwrap_or(&args.a);
    let is_one_file = args.a == path_b;
    refuse_one_moment(args)?;
    let inputs = [args.a.as_path(), path_b].into_iter().chain(args.rules.path());
    let destination = Destination::new(args.output.as_deref(), inputs)?;
    let inputs = [args.a.as_path(), path_b].into_iter().chain(args.rules.path());
    let picture = args.svg.as_deref().map(|path| Destination::new(Some(path), inputs)).transpose()?;
    let opened = open(args, path_b, is_one_file)?;
    with_report(args, &opened, |report| {
        if let Some(picture) = picture {
            picture.write(|out| Ok(report::comparison_svg(out, report)?))?;
        }
        destination.write(|out| write(out, args, report))
    })
}

/// Write the comparison of two open recordings.
#[cfg(feature = "mcp")]
pub(super) fn write_opened(
    out: &mut dyn Write,
    args: &DiffArgs,
    opened: &[Opened<'_>; 2],
) -> Result<(), Failure> {
    refuse_one_moment(args)?;
    with_report(args, opened, |report| write(out, args, report))
}

fn refuse_one_moment(args: &DiffArgs) -> Result<(), Failure> {
    if args.b.is_some() || args.sides.differ() {
        return Ok(());
    }
    Err(Failure::new(
        "one file at one moment has nothing to be compared with",
        "name a second file, or two moments (--at-a, --at-b) or devices (--device-a, --device-b)",
    ))
}

/// Compare two open recordings.
fn with_report(
    args: &DiffArgs,
    opened: &[Opened<'_>; 2],
    answer: impl FnOnce(&ComparisonReport<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let is_one_file = opened[0].file == opened[1].file;
    let found = [0, 1].map(|side| args.sides.find(side, &opened[side]));
    let [a, b] = found;
    let selected = [a?, b?];
    let attributions = attributions(opened, &selected, is_one_file);
    let sides = [0, 1].map(|side| Side {
        recording: &selected[side].device,
        attribution: &attributions[side],
        moment: selected[side].moment,
    });
    let comparison = compare(&sides[0], &sides[1]);
    let names = [0, 1].map(|side| opened[side].name());
    let report = ComparisonReport {
        files: [&names[0], &names[1]],
        sides: [&sides[0], &sides[1]],
        comparison: &comparison,
        promises: &promises(args, &opened[0], &sides),
        top: args.top,
    };
    answer(&report)
}

fn wanted(text: &str) -> Result<Wanted, String> {
    Wanted::parse(text).map_err(|error| error.to_string())
}

/// What the fixes of A promised, as it was kept or as it is told now: of the one that is named or, where A failed and B is another run
/// that did not, of all.
fn promises(args: &DiffArgs, recording: &Opened<'_>, [a, b]: &[Side<'_>; 2]) -> Promises {
    let Side { recording: device, attribution, .. } = *a;
    let has_failed = |side: &Side<'_>| !side.recording.ooms.is_empty();
    let is_asked = args.fix.is_some() || (args.b.is_some() && has_failed(a) && !has_failed(b));
    if !is_asked || [a, b].iter().any(|side| !can_be_simulated(side.recording)) {
        return Promises::default();
    }
    if let Some(promises) = kept_promises(args, recording, device) {
        return promises;
    }
    let workload = Workload::of(Run { recording: device, attribution });
    let made_now = |fixes: Vec<Prediction>, are_named| Promises {
        fixes: fixes.into_iter().map(Promise::from).collect(),
        are_named,
        kept: None,
    };
    let Some(only) = args.fix.clone() else {
        let found = predict_all_while(&workload, None, &|_, _| true);
        return made_now(found.map(|found| found.remedies).unwrap_or_default(), false);
    };
    let subject = Subject::new(device);
    let wish = Wish::from(vec![only]);
    let found =
        Scene::with_whole_step(&workload, &subject, None, |scene| predict(scene, &wish, &|_, _| true));
    made_now(found.remedies, true)
}

/// What was kept beside A, with the fix that is named if one is.
fn kept_promises(args: &DiffArgs, recording: &Opened<'_>, timeline: &Timeline) -> Option<Promises> {
    let (path, found) = kept(recording, timeline)?;
    let named = args.fix.as_ref().map(Wanted::to_string);
    let is_asked = |promise: &Promise| named.as_ref().is_none_or(|id| promise.id == *id);
    let fixes: Vec<Promise> = found.promises.into_iter().filter(is_asked).collect();
    let kept = Some((path.display().to_string(), found.oomscope));
    (!fixes.is_empty()).then_some(Promises { fixes, are_named: named.is_some(), kept })
}

fn can_be_simulated(timeline: &Timeline) -> bool {
    timeline.device != DeviceId::HOST && !timeline.events.is_empty()
}

fn write(out: &mut dyn Write, args: &DiffArgs, report: &ComparisonReport<'_>) -> Result<(), Failure> {
    match args.format {
        DocumentFormat::Text => {
            report::comparison_text(out, report, output_style(args.output.as_deref()))?;
        }
        DocumentFormat::Markdown => out.write_all(report::comparison_markdown(report).as_bytes())?,
        DocumentFormat::Html => out.write_all(report::comparison_html(report, &page_colors()).as_bytes())?,
        DocumentFormat::Json => report::comparison_json(out, report)?,
    }
    Ok(())
}

/// Read both files; one that is compared with itself is read once.
fn open<'a>(args: &'a DiffArgs, path_b: &'a Path, is_one_file: bool) -> Result<[Opened<'a>; 2], Failure> {
    let rules = args.rules.read(&[args.a.clone(), path_b.to_owned()])?;
    let a = loading::load(&args.a)?;
    let b = if is_one_file { Arc::clone(&a) } else { loading::load(path_b)? };
    Ok([
        Opened { file: &args.a, snapshot: a, rules: rules.clone() },
        Opened { file: path_b, snapshot: b, rules },
    ])
}

/// The categories of both sides. One device has the same at both moments.
fn attributions(
    opened: &[Opened<'_>; 2],
    selected: &[Selected; 2],
    is_one_file: bool,
) -> [Arc<Attribution>; 2] {
    let of = |side: usize| opened[side].attribution(&selected[side].device);
    let a = of(0);
    let is_one = is_one_file && selected[0].device.device == selected[1].device.device;
    let b = if is_one { Arc::clone(&a) } else { of(1) };
    [a, b]
}
