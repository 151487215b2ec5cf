//! `oomscope ranks`.

mod tables;

use super::failure::Failure;
use super::names::{Named, named, one_of};
use super::output::Destination;
use super::select::RulesFile;
use super::stderr;
use super::terminal::output_style;
use clap::Args;
use clap::builder::TypedValueParser;
use indicatif::{ProgressBar, ProgressStyle};
use oomscope_analysis::UserRules;
use oomscope_diagnosis::ranks::{Job, summarize};
use oomscope_export::interchange::{Content, FORMATS, JobTable, OpenTable};
use oomscope_export::page_colors;
use oomscope_model::Snapshot;
use oomscope_report as report;
use oomscope_report::TextStyle;
use oomscope_snapshot::load::{FolderListing, Input, LoadError, ManyProgress, load_each};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Time between two steps of the bar.
const STEP: Duration = Duration::from_millis(5);

/// Jobs that are read faster never show a bar.
const PATIENCE: Duration = Duration::from_millis(150);

/// Arguments of `ranks`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oomscope ranks snapshots/             # all snapshots of a directory
  oomscope ranks rank*_memory.pickle    # those of a job
  oomscope ranks snapshots/ --format json | jq '.apart[0].lines[:3]'
  # What two programs on one GPU reserve together:
  oomscope ranks trainer.pickle rollout.pickle --one-gpu
  # Tables, for DuckDB or Spark over all nodes:
  oomscope ranks rank3.pickle --format csv -o job=17/node=3/

The rank of a file is the number after the word 'rank' in its name or, if no name has the word, the small \
number that is different in every name. Two files are in memory at a time. A file that cannot be read is \
listed as such, and the exit code is then 1. docs/ranks.md describes the tables, and how to combine them \
for large jobs.")]
pub(super) struct RanksArgs {
    /// Snapshots of one job, or directories of them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    rules: RulesFile,
    /// Add up what the files reserve over time, for programs that share one GPU
    ///
    /// Such programs are a trainer and its rollouts, for example. Their times are compared by the clock.
    #[arg(long)]
    one_gpu: bool,
    /// Output format
    #[arg(long, value_parser = Format::parser(), default_value = "text")]
    format: Format,
    /// Write only this table, to a file [default: all tables, to the directory of --output]
    ///
    /// Only formats of tables take it: csv, jsonl and parquet.
    #[arg(long, value_parser = tables::table_parser())]
    table: Option<&'static JobTable>,
    /// Output file, or directory of all tables, overwritten if it exists [default: -]
    ///
    /// '-' is standard output. In a directory, only the files of the tables are overwritten.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes the comparison of a job's recordings, maybe as of programs that share one GPU.
type WriteJob = fn(&mut dyn Write, &Job, bool, TextStyle) -> io::Result<()>;

#[derive(Debug, Clone, Copy)]
enum Format {
    Document(WriteJob),
    Tables(&'static str, OpenTable),
}

impl Format {
    const DOCUMENTS: [Named<Self>; 4] = [
        named("text", Self::Document(report::ranks::ranks_text)),
        named(
            "markdown",
            Self::Document(|out, job, one_gpu, _| {
                out.write_all(report::ranks::ranks_markdown(job, one_gpu).as_bytes())
            }),
        ),
        named(
            "html",
            Self::Document(|out, job, one_gpu, _| {
                out.write_all(report::ranks::ranks_html(job, &page_colors(), one_gpu).as_bytes())
            }),
        ),
        named("json", Self::Document(|out, job, one_gpu, _| report::ranks::ranks_json(out, job, one_gpu))),
    ];

    fn parser() -> impl TypedValueParser<Value = Self> {
        let tables = FORMATS.iter().filter_map(|format| match format.content {
            Content::Table(open) => {
                Some(named(format.name, Self::Tables(format.name, open)).help(format.about))
            }
            Content::Database(_) | Content::Stacks(_) | Content::Trace(_) => None,
        });
        one_of(Self::DOCUMENTS.into_iter().chain(tables))
    }
}

pub(super) fn run(args: &RanksArgs) -> Result<(), Failure> {
    let paths = files(&args.paths)?;
    let inputs: Vec<&Path> =
        args.rules.path().into_iter().chain(paths.iter().map(PathBuf::as_path)).collect();
    let output = args.output.as_deref();
    let job = || {
        let job = read(&paths, &args.rules.read(&paths)?);
        unread(&job)?;
        Ok(job)
    };
    let job = match args.format {
        Format::Tables(format, open) => {
            refuse(args.one_gpu, "--one-gpu", "has no place in tables", "leave it out")?;
            tables::run((format, open), args.table, output, &inputs, job)?
        }
        Format::Document(write) => {
            refuse(args.table.is_some(), "--table", "needs a format of tables", "use --format csv")?;
            let destination = Destination::new(output, inputs)?;
            let job = job()?;
            let style = output_style(output);
            destination.write(|out| Ok(write(out, &job, args.one_gpu, style)?))?;
            job
        }
    };
    if unread(&job)? == 0 { Ok(()) } else { Err(Failure::Silent(ExitCode::FAILURE)) }
}

/// Refuse an option that the format has no use for.
fn refuse(is_given: bool, option: &str, why: &str, hint: &str) -> Result<(), Failure> {
    if is_given { Err(Failure::new(format_args!("{option} {why}"), hint)) } else { Ok(()) }
}

/// Number of files that could not be read; a failure if none could.
pub(super) fn unread(job: &Job) -> Result<usize, Failure> {
    let unread = job.files().iter().filter(|file| file.devices.is_err()).count();
    if unread == job.files().len() {
        job.files().iter().for_each(|file| {
            let why = file.devices.as_ref().err().map_or("", String::as_str);
            stderr::notice(&format!("{}: {why}", file.name));
        });
        let hint = "name snapshots of torch.cuda.memory._dump_snapshot, or a directory of them";
        return Err(Failure::new("none of the files could be read", hint));
    }
    Ok(unread)
}

/// The files that paths name: those of a directory are its snapshots, those of its directories included.
pub(super) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        let listing = listed(path)?;
        files.extend(listing.files.into_iter().map(|entry| entry.path));
        for folder in &listing.folders {
            // As trainers write them: a directory for each rank or step.
            files.extend(listed(folder)?.files.into_iter().map(|entry| entry.path));
        }
        if files.len() == before {
            let message = format!("{} has no snapshots", path.display());
            return Err(Failure::new(
                message,
                "their names end in .pickle, .pkl or .html, compressed or not",
            ));
        }
    }
    Ok(files)
}

fn listed(folder: &Path) -> Result<FolderListing, Failure> {
    let listing = FolderListing::of(folder).map_err(|error| {
        Failure::new(
            format_args!("cannot read {}: {error}", folder.display()),
            "check the path and the permissions",
        )
    })?;
    if listing.is_cut {
        stderr::notice(&format!("warning: {} has more files than are looked at", folder.display()));
    }
    Ok(listing)
}

/// Read and summarize all files, with a bar on a terminal.
pub(super) fn read(paths: &[PathBuf], rules: &UserRules) -> Job {
    let progress = ManyProgress::default();
    thread::scope(|scope| {
        let all = scope.spawn(|| summaries(paths, rules, &progress));
        let (start, mut bar): (_, Option<ProgressBar>) = (Instant::now(), None);
        while !all.is_finished() {
            thread::sleep(STEP);
            if PATIENCE < start.elapsed() {
                let bar = bar.get_or_insert_with(|| new_bar(paths.len()));
                bar.set_position(progress.done() as u64);
            }
        }
        bar.iter().for_each(ProgressBar::finish_and_clear);
        all.join().unwrap_or_else(|_| Job::of_files(paths, paths.iter().map(|_| internal_error()).collect()))
    })
}

/// Read and summarize all files. After a cancellation, those that were not read have errors.
pub(super) fn summaries(paths: &[PathBuf], rules: &UserRules, progress: &ManyProgress) -> Job {
    let inputs: Vec<Input> = paths.iter().map(|path| Input::from_arg(path)).collect();
    let reduce = |_: &Input, loaded: Result<Snapshot, LoadError>| match loaded {
        Ok(snapshot) => Ok(summarize(&Arc::new(snapshot), rules)),
        Err(error) => Err(error.to_string()),
    };
    let found = load_each(&inputs, progress, reduce);
    Job::of_files(paths, found.into_iter().map(|devices| devices.unwrap_or_else(internal_error)).collect())
}

fn internal_error<T>() -> Result<T, String> {
    Err("internal error".to_owned())
}

fn new_bar(files: usize) -> ProgressBar {
    let bar = ProgressBar::new(files as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len} files");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
