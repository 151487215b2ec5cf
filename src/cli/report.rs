//! `oomscope report`.

use super::failure::Failure;
use super::keep::keep;
use super::message::oom_message;
use super::output::DocumentFormat;
use super::ranks;
use super::select::{Capacity, Opened, Selected, Source, Target, no_moment, with_moments};
use super::stderr;
use super::terminal::output_style;
use clap::Args;
use oomscope_analysis::{At, Attribution, UserRules, module_table};
use oomscope_diagnosis::ranks::Job;
use oomscope_diagnosis::{Diagnosis, DiagnosisRequest, OomMessage, diagnose_workload};
use oomscope_export::{Marked, PageSubject, future_of, report_parts};
use oomscope_model::{DeviceId, Recording, Timeline};
use oomscope_program::{Run, Workload};
use oomscope_remedies::{Predictions, Progress, predict_all_while};
use oomscope_report as report;
use oomscope_report::notes::{MAX_FILE_BYTES, Note, NotesFile, read_notes};
use oomscope_report::ranks as words;
use oomscope_report::{Document, PageParts, RemediesReport, ReportInput, TextDetail, fix_of};
use oomscope_simulator::Subject;
use oomscope_snapshot::load::{Input, notes_beside, read_text};
use oomscope_units as units;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Lines of code, stacks and allocations that each finding lists, where the user does not say.
const TOP: usize = 8;

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(
    mut_arg("at", with_moments),
    mut_arg("capacity", |arg| {
        arg.long_help("Memory of the device, such as 80GiB, if the recording does not state it\n\nThe report \
            needs it to say how much memory is held outside of PyTorch.")
    }),
    after_help = "Examples:
  oomscope report oom.pickle                 # what happened, and what to do
  oomscope report oom.pickle --verbose       # with all figures and evidence
  oomscope report rank3.pickle --ranks .     # with the other ranks of the job
  oomscope report oom.pickle --message log   # with the text of the exception
  # For a ticket, at most 60,000 characters:
  oomscope report oom.pickle --format markdown -o issue.md
  # One page that works offline, without names of directories:
  oomscope report oom.pickle --format html --redact -o report.html
  # For programs:
  oomscope report oom.pickle --format json | jq '.findings[0].id'

The first finding is the verdict: capacity, fragmentation, pending-free, kept-free, other-pool, \
other-stream, single-request, outside-pytorch, leak, uneven-ranks with --ranks, or none if the recording \
shows nothing wrong. \
docs/report.md describes the verdicts and the JSON."
)]
pub(super) struct ReportArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t = DocumentFormat::Text)]
    format: DocumentFormat,
    #[command(flatten)]
    left_out: LeftOut,
    /// Print all figures, evidence, advice and limits
    ///
    /// Only text leaves them out without this option; the other formats always have them.
    #[arg(long)]
    verbose: bool,
    /// Write only the verdict, its fix and where the memory comes from, as JSON of 3 KB
    #[arg(long)]
    brief: bool,
    /// Save what fixes promise beside the recording, in FILE.fixes.json
    ///
    /// 'oomscope diff' finds the file there, and says whether the promises were kept.
    #[arg(long, conflicts_with = "no_remedies")]
    keep: bool,
    /// Output file, overwritten if it exists; '-' is standard output [default: -]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    capacity: Capacity,
    /// Add the other ranks of the job: a directory of snapshots, or one file; can be repeated
    #[arg(long, value_name = "PATH")]
    ranks: Vec<PathBuf>,
    /// Read the text of PyTorch's exception, or a log that contains it; '-' is standard input
    ///
    /// With it, the report accounts for all memory of the device.
    #[arg(long, value_name = "FILE")]
    message: Option<PathBuf>,
    /// List at most N lines of code, stacks and allocations for each finding
    #[arg(long, value_name = "N", default_value_t = TOP)]
    top: usize,
    #[command(flatten)]
    source: Source,
}

impl ReportArgs {
    fn of_file(file: PathBuf, capacity: Capacity) -> Self {
        Self {
            format: DocumentFormat::Text,
            left_out: LeftOut::default(),
            verbose: false,
            brief: false,
            keep: false,
            output: None,
            target: Target::default(),
            capacity,
            ranks: Vec::new(),
            message: None,
            top: TOP,
            source: Source::of_file(file),
        }
    }
}

/// Parts that a report can do without.
#[derive(Debug, Default, Args)]
struct LeftOut {
    /// Do not simulate fixes
    ///
    /// Simulating them takes seconds for recordings of millions of events.
    #[arg(long)]
    no_remedies: bool,
    /// Leave out the notes that the window keeps beside the file
    #[arg(long)]
    no_notes: bool,
    /// Leave out directories, and addresses of people and machines
    ///
    /// Names of files and functions, and numbers of lines, stay.
    #[arg(long)]
    redact: bool,
}

pub(super) fn run(args: &ReportArgs) -> Result<(), Failure> {
    run_on(args, || args.source.open())
}

/// Print the report of a file as text, as `report` does without any option of its own.
pub(super) fn print(file: &Path, rules: &UserRules, capacity: &Capacity) -> Result<(), Failure> {
    let args = ReportArgs::of_file(file.to_owned(), capacity.clone());
    run_on(&args, || args.source.open_with(rules.clone()))
}

fn run_on<'a>(
    args: &'a ReportArgs,
    open: impl FnOnce() -> Result<Opened<'a>, Failure>,
) -> Result<(), Failure> {
    let message = args.message.as_deref();
    let ranks = ranks::files(&args.ranks)?;
    let notes = args.source.path().map(notes_beside);
    let others = ranks.iter().chain(&notes).map(PathBuf::as_path).chain(message);
    let destination = args.source.destination_beside(args.output.as_deref(), others)?;
    if args.source.is_stdin() && message == Some(Path::new("-")) {
        return Err(Failure::new(
            "the snapshot and the message cannot both come from standard input",
            "name a file for one of them",
        ));
    }
    let message = message.map(oom_message).transpose()?;
    let recording = open()?;
    let device = message.and_then(|message| message.device).map(DeviceId);
    let failure = |timeline: &Timeline| Some(At::Event(message?.event_in(timeline)?.0));
    let selected = args.target.one_or(&recording, device, failure)?;
    let bytes = contents(args, &recording, About { selected, message, ranks }, &|_, _| true)?;
    destination.write(|out| Ok(out.write_all(&bytes)?))
}

/// Write the report about an open recording, without a text of PyTorch's exception. Remedies are simulated while `progress`
/// says so.
#[cfg(feature = "mcp")]
pub(super) fn write(
    out: &mut dyn std::io::Write,
    args: &ReportArgs,
    recording: &Opened<'_>,
    progress: Progress<'_>,
) -> Result<(), Failure> {
    let about = About { selected: args.target.one(recording)?, message: None, ranks: Vec::new() };
    Ok(out.write_all(&contents(args, recording, about, progress)?)?)
}

/// The ranks of the job, if they are to be looked at, and the path of the recording among them.
fn job_of(mut paths: Vec<PathBuf>, recording: &Opened<'_>) -> Option<(Job, PathBuf)> {
    if paths.is_empty() {
        return None;
    }
    let is_own = |path: &Path| same_file::is_same_file(path, recording.file).unwrap_or(false);
    let found = paths.iter().find(|path| is_own(path)).cloned();
    let own = found.unwrap_or_else(|| recording.file.to_owned());
    if !paths.contains(&own) {
        paths.push(own.clone());
    }
    Some((ranks::read(&paths, &recording.rules), own))
}

/// What a report is about besides the recording.
struct About {
    selected: Selected,
    message: Option<OomMessage>,
    /// The snapshots of the other ranks.
    ranks: Vec<PathBuf>,
}

fn contents(
    args: &ReportArgs,
    recording: &Opened<'_>,
    About { selected, message, ranks }: About,
    progress: Progress<'_>,
) -> Result<Vec<u8>, Failure> {
    let device = &selected.device;
    let attribution = recording.attribution(device);
    let (job, own) = job_of(ranks, recording).unzip();
    let excess = job.as_ref().zip(own.as_ref()).and_then(|(job, own)| job.excess(own, device.device));
    let capacity = args.capacity.of(device);
    let request =
        DiagnosisRequest { at: Some(selected.at), device_memory: capacity, message, ranks: excess.as_ref() };
    let workload = Workload::of(Run { recording: device, attribution: &attribution });
    let diagnosis =
        diagnose_workload(&workload, request).map_err(|error| no_moment(recording.file, error))?;
    let predict = || predict_all_while(&workload, capacity, progress);
    let remedies = (!args.left_out.no_remedies).then(predict).flatten();
    if args.keep {
        keep_promises(capacity.is_some(), recording, device, remedies.as_ref())?;
    }
    let modules = module_table(device, &attribution, selected.moment);
    let notes = if args.left_out.no_notes { Vec::new() } else { notes_about(recording) };
    let input = ReportInput {
        name: &recording.name(),
        recording: device,
        diagnosis: &diagnosis,
        remedies: remedies.as_ref(),
        modules: Some(&modules),
        top: args.top,
        notes: &notes,
        redacted: args.left_out.redact,
    };
    let others = job.zip(own).map(|(job, own)| words::among(&job, &own)).unwrap_or_default();
    let document = Document::new(&input).among_ranks(&others, args.left_out.redact);
    let detail = if args.verbose { TextDetail::Verbose } else { TextDetail::Short };
    let style = output_style(args.output.as_deref());
    let mut out = Vec::new();
    match args.format {
        DocumentFormat::Text => report::report_text(&mut out, &document, detail, style)?,
        DocumentFormat::Markdown => out.extend(report::report_markdown(&document).bytes()),
        DocumentFormat::Json if args.brief => report::verdict_json(&mut out, &document)?,
        DocumentFormat::Json => report::report_json(&mut out, &document)?,
        DocumentFormat::Html => {
            let parts =
                page_parts(args, recording, &selected, &attribution, (&diagnosis, remedies.as_ref()))?;
            out.extend(report::report_html(&document, &parts).bytes());
        }
    }
    Ok(out)
}

/// Keep what fixes promise beside the recording.
fn keep_promises(
    is_capacity_given: bool,
    recording: &Opened<'_>,
    device: &Recording,
    predictions: Option<&Predictions>,
) -> Result<(), Failure> {
    let Some(predictions) = predictions else {
        stderr::notice("no trace of a GPU's allocator to change, so that nothing is promised or kept");
        return Ok(());
    };
    let report = RemediesReport {
        file: &recording.file.display().to_string(),
        recording: device,
        fidelity: Subject::new(device).fidelity(),
        is_capacity_given,
        predictions,
        has_all: true,
        has_curves: false,
    };
    keep(recording, &report)
}

/// The notes beside the recording, as far as they can be read.
fn notes_about(recording: &Opened<'_>) -> Vec<Note> {
    let Input::File(path) = Input::from_arg(recording.file) else { return Vec::new() };
    let path = notes_beside(&path);
    let found = match read_text(&path, MAX_FILE_BYTES) {
        Ok(None) => return Vec::new(),
        Ok(Some(text)) => read_notes(&text),
        Err(error) => NotesFile::unreadable(&error.to_string()),
    };
    if let Some(why) = &found.kept {
        stderr::notice(&format!("{}: {why}", path.display()));
    }
    found.notes
}

fn page_parts(
    args: &ReportArgs,
    recording: &Opened<'_>,
    &Selected { ref device, moment, .. }: &Selected,
    attribution: &Arc<Attribution>,
    (diagnosis, remedies): (&Diagnosis, Option<&Predictions>),
) -> Result<PageParts, Failure> {
    let name = recording.name();
    let name = if args.left_out.redact { units::basename(&name) } else { &name };
    let redacts = args.left_out.redact;
    let marked = diagnosis.verdict().and_then(|verdict| Marked::of(verdict, device, moment));
    let fix = diagnosis.verdict().and_then(|verdict| fix_of(verdict, || remedies.cloned()));
    let future = remedies.map(|all| future_of(all, fix.as_ref())).unwrap_or_default();
    let (future, marked) = (&future, marked.as_ref());
    report_parts(PageSubject { recording: device, attribution, future, moment, marked, name, redacts })
        .map_err(|error| recording.failure(error, "use another format"))
}
