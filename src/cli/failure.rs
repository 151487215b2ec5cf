//! Failures of commands: a message, a hint and an exit code.
//!
//! Exit codes: 0 done, 1 the input or the system refused, 2 wrong usage (clap sets it), 3 a limit of
//! `check` is exceeded.

use super::out_of_proportion::OutOfProportion;
use super::stderr;
use oomscope_export::save::SaveError;
use std::fmt;
use std::io;
use std::process::ExitCode;

/// The failure of a command.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A failure without a message: it is already reported, or the reader of the output went away.
    Silent(ExitCode),
    /// One line for the user, and a hint below it.
    Message {
        /// The error.
        message: String,
        /// A way out.
        hint: String,
    },
}

impl Failure {
    pub(super) fn new(message: impl fmt::Display, hint: impl Into<String>) -> Self {
        Self::Message { message: message.to_string(), hint: hint.into() }
    }

    /// Report it on standard error. Returns the exit code of the program.
    pub(super) fn report(&self) -> ExitCode {
        match self {
            Self::Silent(code) => *code,
            Self::Message { message, hint } => {
                stderr::error(message, hint);
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
        } else if let Some(refused) = OutOfProportion::of(&error) {
            Self::new(format_args!("the output is not written: {refused}"), OutOfProportion::HINT)
        } else {
            Self::new(format_args!("cannot write the output: {error}"), "check the disk and the permissions")
        }
    }
}

impl From<SaveError> for Failure {
    fn from(error: SaveError) -> Self {
        let hint = match &error {
            SaveError::IsInput { .. } => "name another file",
            _ => "check the folder, its permissions and the space on the disk",
        };
        Self::new(error, hint)
    }
}
