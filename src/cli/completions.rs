//! `oomscope completions`.

use super::failure::Failure;
use super::output;
use clap::{Args, Command};
use clap_complete::Shell;
use std::io::Write as _;

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oomscope completions fish > ~/.config/fish/completions/oomscope.fish
  # In ~/.bashrc:
  source <(oomscope completions bash)
  # With fpath+=~/.zfunc before compinit in ~/.zshrc:
  oomscope completions zsh > ~/.zfunc/_oomscope")]
pub(super) struct CompletionsArgs {
    /// Shell to generate completions for
    #[arg(value_enum)]
    shell: Shell,
}

/// Print what completes `command` in the shell.
pub(super) fn run(args: &CompletionsArgs, command: &mut Command) -> Result<(), Failure> {
    let name = command.get_name().to_owned();
    // Into memory first: a pipe that is closed early is an error, which the generator would not return.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, name, &mut script);
    let mut out = output::stdout();
    out.write_all(&script)?;
    Ok(out.flush()?)
}
