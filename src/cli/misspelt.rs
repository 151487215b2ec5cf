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
    if let Some(hint) = left_out(word) {
        return Err(Failure::new(format_args!("this oomscope was built without '{word}'"), hint));
    }
    // Only then does it list its own 'help'.
    command.build();
    let Some(meant) = units::nearest(word, command.get_subcommands().map(clap::Command::get_name)) else {
        return Ok(());
    };
    let message = if meant == word {
        // It is only taken for a file where an option stands before it.
        format!("options come after the command: oomscope {word} …")
    } else {
        format!("there is no command and no file '{word}'; did you mean '{meant}'?")
    };
    command.error(ErrorKind::InvalidSubcommand, message).print().ok();
    Err(Failure::Silent(ExitCode::from(WRONG_USAGE)))
}

/// How to get a command that this program was built without.
fn left_out(word: &str) -> Option<&'static str> {
    match word {
        "mcp" if cfg!(not(feature = "mcp")) => {
            Some("the wheel has it (pip install oomscope), and so has cargo install with --features mcp")
        }
        "sql" if cfg!(not(feature = "sql")) => {
            Some("the wheel has it (pip install oomscope), and so has cargo install with --features sql")
        }
        _ => None,
    }
}
