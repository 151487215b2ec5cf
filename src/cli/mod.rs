//! The command line: arguments in, text or a window out, and an exit code.
//!
//! Exit codes: 0 done, 1 the input or the system refused, 2 wrong usage, 3 a limit of `check` is
//! exceeded.

mod args;
mod check;
mod explain;
mod licenses;
mod live;
mod loading;
mod open;
mod output;
mod render;
mod report;
mod rules;
mod simulate;
mod stats;

use args::{Args, Command};
use clap::Parser as _;
use std::fmt;
use std::io;
use std::process::ExitCode;

/// What a command ends with when it does not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Already reported, or nothing to report: a reader that went away.
    Silent(ExitCode),
    /// One line for the user, and what to try.
    Message {
        /// What went wrong.
        message: String,
        /// What to try.
        hint: String,
    },
}

impl Failure {
    fn new(message: impl fmt::Display, hint: impl Into<String>) -> Self {
        Self::Message { message: message.to_string(), hint: hint.into() }
    }

    /// Tell the user, and with which exit code to end.
    fn report(&self) -> ExitCode {
        match self {
            Self::Silent(code) => *code,
            Self::Message { message, hint } => {
                output::error(message, hint);
                ExitCode::FAILURE
            }
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            // `oomscope … | head` has seen enough.
            Self::Silent(ExitCode::SUCCESS)
        } else {
            Self::new(format_args!("cannot write the output: {error}"), "check the disk and the permissions")
        }
    }
}

/// Show on standard error what `OOMSCOPE_LOG` asks for.
fn install_log() {
    let shown = env_logger::Builder::from_env(env_logger::Env::new().filter("OOMSCOPE_LOG")).build();
    // The window hears of errors in any case.
    log::set_max_level(shown.filter().max(log::LevelFilter::Error));
    #[cfg(feature = "window")]
    let shown = crate::app::DialogLog(shown);
    // There is no other log yet.
    log::set_boxed_logger(Box::new(shown)).ok();
}

/// Run the program with the process's arguments.
pub fn run() -> ExitCode {
    install_log();
    let args = Args::parse();
    let outcome = match args.command {
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::Stats(args)) => stats::run(&args),
        Some(Command::Live(args)) => live::run(&args),
        Some(Command::Render(args)) => render::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Simulate(args)) => simulate::run(&args),
        Some(Command::Licenses) => licenses::run(),
        None => open::run(&args.open),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
