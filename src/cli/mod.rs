//! The command line: arguments in, text or a window out, and an exit code.
//!
//! This file is the register of subcommands: each has a module, a variant of `Command` and a line in
//! `Command::run`. Its module also declares its arguments.

mod check;
mod completions;
mod cut;
mod diff;
mod explain;
mod export;
mod failure;
mod keep;
mod lay_out;
mod licenses;
mod live;
mod loading;
mod max_memory;
mod max_output;
#[cfg(feature = "mcp")]
mod mcp;
mod message;
mod misspelt;
mod names;
mod open;
mod out_of_proportion;
mod output;
mod progress_bar;
mod ranks;
mod recorder;
mod remedies;
mod render;
mod report;
mod select;
mod settings;
#[cfg(target_os = "linux")]
mod signals;
mod simulate;
#[cfg(feature = "sql")]
mod sql;
mod stats;
mod stderr;
mod table_folder;
mod terminal;

use clap::{CommandFactory as _, Parser, Subcommand};
use failure::Failure;
use std::env;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// The version, with the commit where it is known.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("OOMSCOPE_COMMIT"));

/// See what filled the GPU: a viewer for PyTorch CUDA memory snapshots.
///
/// Without a command, opens a window with the allocation timeline of each file.
#[derive(Debug, Parser)]
#[command(
    version = VERSION,
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  oomscope run train.py --lr 1e-4        # run a program and record its memory
  oomscope snapshot.pickle               # open a recording in the window
  oomscope snapshots/                    # list a directory in the window
  oomscope report oom.pickle             # why memory ran out, and what to do
  oomscope fixes oom.pickle              # the cheapest changes that make it fit
  oomscope simulate oom.pickle --sweep   # would other allocator settings help?
  oomscope live oom.pickle --at oom      # live allocations, largest first
  oomscope stats rank*.pickle            # a short summary of each file
  oomscope ranks snapshots/              # the ranks of a job side by side
  oomscope diff old.pickle new.pickle    # why the peak grew
  oomscope render run.pickle -o a.png    # a picture of the timeline
  # Tables for DuckDB, Polars and pandas:
  oomscope export run.pickle --format csv -o tables/
  # The third iteration as a smaller snapshot, for a ticket:
  oomscope cut big.pickle --range iteration:2 -o small.pickle

oomscope reads the pickles that torch.cuda.memory._dump_snapshot writes, plain or compressed (gzip, \
zstd, xz), the same data as JSON, and the pages that python -m torch.cuda._memory_viz writes. '-' is \
standard input. Nothing in a file is ever executed."
)]
struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    open: open::OpenArgs,
    #[command(flatten)]
    max_memory: max_memory::MaxMemory,
    #[command(flatten)]
    color: terminal::Color,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
enum Command {
    /// Print the figures of each device: peaks, totals and OOMs
    Stats(stats::StatsArgs),
    /// Print the allocations that are live at a moment, largest first
    Live(live::LiveArgs),
    /// Explain the category of an allocation, or the verdict of a report
    Explain(explain::ExplainArgs),
    /// Report why memory ran out, with evidence and advice
    Report(report::ReportArgs),
    /// Explain the difference between two recordings, moments or devices
    Diff(diff::DiffArgs),
    /// Render a view as a picture, without a display
    Render(render::RenderArgs),
    /// Export tables, stacks or a trace for other programs
    Export(export::ExportArgs),
    /// Answer a query in SQL about the tables of a recording
    #[cfg(feature = "sql")]
    Sql(sql::SqlArgs),
    /// Write part of a recording as a smaller snapshot
    Cut(cut::CutArgs),
    /// Check recordings against limits, for CI
    Check(check::CheckArgs),
    /// Replay a recording under other allocator settings
    Simulate(simulate::SimulateArgs),
    /// List changes to the program that make it fit, cheapest first
    #[command(alias = "remedies")]
    Fixes(remedies::RemediesArgs),
    /// Make a snapshot of requests that no device met
    #[command(hide = true)]
    LayOut(lay_out::LayOutArgs),
    /// Compare the ranks of a job: peaks, outliers, the first failure
    Ranks(ranks::RanksArgs),
    /// Serve queries to coding agents, over the Model Context Protocol
    #[cfg(feature = "mcp")]
    Mcp(mcp::McpArgs),
    /// Run a Python program and record its GPU memory
    Run(recorder::RecorderArgs),
    /// Estimate the GPU memory of a Python program, without a GPU
    Estimate(recorder::RecorderArgs),
    /// Check whether the installed PyTorch can record, and at what cost
    Doctor(recorder::RecorderArgs),
    /// Generate shell completions
    Completions(completions::CompletionsArgs),
    /// Print the licences of this program and of its packages
    Licenses,
}

impl Command {
    /// Whether the user's settings hold for it. What starts a program must start it whatever they say.
    fn is_about_recordings(&self) -> bool {
        !matches!(
            self,
            Self::Run(_)
                | Self::Estimate(_)
                | Self::Doctor(_)
                | Self::LayOut(_)
                | Self::Completions(_)
                | Self::Licenses
        )
    }

    fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Stats(args) => stats::run(args),
            Self::Live(args) => live::run(args),
            Self::Explain(args) => explain::run(args),
            Self::Report(args) => report::run(args),
            Self::Diff(args) => diff::run(args),
            Self::Render(args) => render::run(args),
            Self::Export(args) => export::run(args),
            #[cfg(feature = "sql")]
            Self::Sql(args) => sql::run(args),
            Self::Cut(args) => cut::run(args),
            Self::Check(args) => check::run(args),
            Self::Simulate(args) => simulate::run(args),
            Self::Fixes(args) => remedies::run(args),
            Self::LayOut(args) => lay_out::run(args),
            Self::Ranks(args) => ranks::run(args),
            #[cfg(feature = "mcp")]
            Self::Mcp(args) => mcp::run(args),
            Self::Run(args) => recorder::run("run", args, &command()),
            Self::Estimate(args) => recorder::run("estimate", args, &command()),
            Self::Doctor(args) => recorder::run("doctor", args, &command()),
            Self::Completions(args) => completions::run(args, &mut command()),
            Self::Licenses => licenses::run(),
        }
    }
}

/// The commands and options, for man pages.
pub fn command() -> clap::Command {
    Args::command()
}

/// The process's arguments. Shells of Windows leave it to programs to expand `rank*.pickle`; what a Python program is started with
/// is as it was typed.
fn arguments() -> Vec<OsString> {
    let is_for_python = |word: &OsString| ["run", "estimate", "doctor"].iter().any(|command| word == command);
    let typed = || env::args_os();
    if typed().skip(1).any(|word| is_for_python(&word)) {
        typed().collect()
    } else {
        wild::args_os().collect()
    }
}

/// Run the program with the process's arguments.
pub fn run() -> ExitCode {
    install_log();
    let args = Args::parse_from(arguments());
    args.max_memory.set();
    args.color.set();
    #[cfg(target_os = "linux")]
    signals::watch();
    let outcome = guarded(|| {
        if let Some(command) = &args.command {
            if command.is_about_recordings() {
                settings::apply()?;
            }
            return command.run();
        }
        misspelt::refuse(args.open.files.first(), &mut command())?;
        settings::apply()?;
        open::run(&args.open)
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Run a command. A defect of this program is an error like others, with exit code 1; files that were being written stay as
/// they were. Where it happened is on standard error already.
fn guarded(run: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = oomscope_snapshot::load::panic_text(&*panic);
        Err(Failure::new(format_args!("internal error: {text}"), "please report this together with the file"))
    })
}

/// What libraries log by default: errors. Why there is no window is said by this program.
const OF_LIBRARIES: &str = "error,eframe::native::run=off";

/// The filters of the log: a level alone is this program's, and libraries only log errors. Anything else is taken as it is.
fn log_filters(asked: &str) -> String {
    match asked.trim().parse::<log::LevelFilter>() {
        Ok(log::LevelFilter::Off) => "off".to_owned(),
        Ok(level) => format!("{OF_LIBRARIES},{}={level}", env!("CARGO_CRATE_NAME")),
        Err(_) if asked.trim().is_empty() => OF_LIBRARIES.to_owned(),
        Err(_) => asked.to_owned(),
    }
}

/// Show log messages on standard error, as far as `OOMSCOPE_LOG` asks for them.
fn install_log() {
    let asked = env::var("OOMSCOPE_LOG").unwrap_or_default();
    let shown = env_logger::Builder::new().parse_filters(&log_filters(&asked)).build();
    // The window shows errors in any case.
    log::set_max_level(shown.filter().max(log::LevelFilter::Error));
    #[cfg(feature = "window")]
    let shown = oomscope_app::DialogLog(shown);
    // Fails only if a logger is set already; this is the first.
    log::set_boxed_logger(Box::new(shown)).ok();
}

#[cfg(test)]
mod tests {
    use super::{Failure, OF_LIBRARIES, guarded, log_filters};

    #[test]
    fn a_defect_is_an_error_and_no_end_in_the_middle() {
        let sum = |a: i64| {
            guarded(|| {
                assert!(a.checked_add(1).is_some(), "attempt to add with overflow");
                Ok(())
            })
        };
        let Err(Failure::Message { message, hint }) = sum(i64::MAX) else { panic!("it is an error") };
        assert_eq!(message, "internal error: attempt to add with overflow");
        assert!(hint.contains("report this"));
        assert!(sum(1).is_ok());
    }

    #[test]
    fn a_level_alone_is_for_the_programs_own_messages() {
        assert_eq!(log_filters("trace"), format!("{OF_LIBRARIES},oomscope=TRACE"));
        assert_eq!(log_filters(" Debug "), format!("{OF_LIBRARIES},oomscope=DEBUG"));
        assert_eq!(log_filters("off"), "off");
        assert_eq!(log_filters(""), OF_LIBRARIES);
        assert_eq!(log_filters("oomscope=debug,wgpu=warn"), "oomscope=debug,wgpu=warn");
    }
}
