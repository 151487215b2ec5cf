//! `oomscope run`, `estimate` and `doctor`: the Python package beside this program, in the user's own Python.

use super::failure::Failure;
use super::output;
use clap::Args;
use std::env;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Arguments of `run`, `estimate` and `doctor`, which Python reads.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_help = "Examples:
  oomscope run train.py --lr 1e-4     # in place of python train.py --lr 1e-4
  oomscope run -m package.train       # in place of python -m package.train
  oomscope run --help                 # list the options of run
  torchrun -m oomscope run train.py   # record each rank of a job
  oomscope doctor                     # can this PyTorch record? At what cost?
  # How much memory would the program need? No GPU is used:
  oomscope estimate train.py --device 80GiB -- --lr 1e-4

'oomscope run' is 'python -m oomscope run', and likewise for 'estimate' and 'doctor'. The Python is that of \
the active virtual environment. Without one, it is the Python that this program was installed with, or \
python3 on the PATH."
)]
pub(super) struct RecorderArgs {
    /// Options, followed by the program and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Run `python -m oomscope COMMAND ARGS` in place of this process: exit code, signals and terminal are Python's. Without the
/// package, help is what `arguments` say of the command.
pub(super) fn run(command: &str, args: &RecorderArgs, arguments: &clap::Command) -> Result<(), Failure> {
    let python = match python() {
        Ok(python) => python,
        Err(missing) if args.asks_for_help() => return help(command, arguments, &missing),
        Err(missing) => return Err(missing),
    };
    let mut process = Command::new(&python);
    process.args(["-m", "oomscope", command]).args(&args.args);
    match become_process(&mut process) {
        Ok(0) => Ok(()),
        Ok(code) => Err(Failure::Silent(code.into())),
        Err(error) => Err(cannot_run(&python, &error)),
    }
}

impl RecorderArgs {
    /// Whether help is all that is wanted.
    fn asks_for_help(&self) -> bool {
        self.args.first().is_some_and(|first| first == "--help" || first == "-h")
    }
}

/// Print what is known of a command without the package that has its options.
fn help(command: &str, arguments: &clap::Command, missing: &Failure) -> Result<(), Failure> {
    let named = format!("{} {command}", arguments.get_name());
    let found = arguments.find_subcommand(command).cloned();
    let found = found.map(|found| found.bin_name(named).render_long_help());
    let mut out = output::stdout();
    writeln!(out, "{}", found.unwrap_or_default())?;
    if let Failure::Message { message, hint } = missing {
        writeln!(out, "Install the package to see the options of {command}: {message}.\nhint: {hint}")?;
    }
    Ok(out.flush()?)
}

#[cfg(unix)]
fn become_process(command: &mut Command) -> io::Result<u8> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec())
}

/// The exit code, where no process can become another.
#[cfg(not(unix))]
fn become_process(command: &mut Command) -> io::Result<u8> {
    let code = command.status()?.code();
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// The Python that has the package. An environment that is active is meant, whatever others have.
fn python() -> Result<PathBuf, Failure> {
    if let Some(active) = env::var_os("VIRTUAL_ENV").filter(|folder| !folder.is_empty()) {
        let name = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
        let python = PathBuf::from(active).join(name);
        return if has_package(&python)? { Ok(python) } else { Err(no_package(&python)) };
    }
    let beside = env::current_exe().ok().and_then(|program| {
        let name = if cfg!(windows) { "python.exe" } else { "python3" };
        Some(program.parent()?.join(name)).filter(|python| python.is_file())
    });
    if let Some(python) = beside
        && has_package(&python)?
    {
        return Ok(python);
    }
    let python = PathBuf::from(if cfg!(windows) { "python" } else { "python3" });
    if has_package(&python)? { Ok(python) } else { Err(no_package(&python)) }
}

fn has_package(python: &Path) -> Result<bool, Failure> {
    // Not the package itself, as which Python takes any folder of that name.
    let check = ["-c", "import oomscope._run"];
    let mut command = Command::new(python);
    command.args(check).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.status().map_err(|error| cannot_run(python, &error))?.success())
}

fn cannot_run(python: &Path, error: &io::Error) -> Failure {
    Failure::new(
        format_args!("cannot run {}: {error}", python.display()),
        "activate the environment that has torch, or put its python3 on the PATH",
    )
}

fn no_package(python: &Path) -> Failure {
    let python = python.display();
    Failure::new(
        format_args!("{python} has no package oomscope, which records"),
        format!("{python} -m pip install oomscope, or in its place the folder of its sources or a wheel"),
    )
}
