//! `oomscope completions`.

use super::failure::Failure;
use super::output;
use clap::{Args, Command};
use clap_complete::Shell;
use std::io::Write as _;

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oomscope completions bash > ~/.local/share/bash-completion/completions/oomscope
  oomscope completions zsh > ~/.zfunc/_oomscope          with fpath+=~/.zfunc before compinit in ~/.zshrc
  oomscope completions fish > ~/.config/fish/completions/oomscope.fish")]
pub(super) struct CompletionsArgs {
    /// The shell
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
