//! Commands that are misspelt, which would be taken for files.

use super::failure::Failure;
use clap::error::ErrorKind;
use oomscope_units as units;
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit code of wrong usage, as clap has it.
const WRONG_USAGE: u8 = 2;

/// Refuse a first argument that is no file and reads like a command.
pub(super) fn refuse(first: Option<&PathBuf>, command: &mut clap::Command) -> Result<(), Failure> {
    let Some(word) = first.filter(|path| !path.exists()).and_then(|path| path.to_str()) else {
        return Ok(());
    };
    // Only then does it list its own 'help'.
    command.build();
    let Some(meant) = units::nearest(word, command.get_subcommands().map(clap::Command::get_name)) else {
        return Ok(());
    };
    let message = format!("there is no command and no file '{word}'; did you mean '{meant}'?");
    command.error(ErrorKind::InvalidSubcommand, message).print().ok();
    Err(Failure::Silent(ExitCode::from(WRONG_USAGE)))
}
