//! `oomscope FILE…`: the window.

use super::{Failure, loading, output, rules};
use crate::analysis::Rules;
use crate::app;
use crate::load::Input;
use crate::report;
use crate::units;
use clap::Args;
use std::io::Write as _;
use std::path::PathBuf;

/// Arguments without a subcommand.
#[derive(Debug, Args)]
pub(super) struct OpenArgs {
    /// Snapshots to open in the window; '-' is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Memory of the device, for the capacity line: 80GiB. An OOM in the recording shows it, too
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    capacity: Option<i64>,
    /// Your own rules for categories, a TOML file; they come before all others
    #[arg(long, value_name = "TOML")]
    rules: Option<PathBuf>,
}

pub(super) fn parse_bytes(text: &str) -> Result<i64, String> {
    units::parse_bytes(text).ok_or_else(|| "expected a size such as 80GiB, 512MiB or 1024".to_owned())
}

pub(super) fn run(args: &OpenArgs) -> Result<(), Failure> {
    let rules = rules::read(args.rules.as_deref())?;
    let files = args.files.iter().map(|path| Input::from_arg(path)).collect();
    app::run(app::Options { files, capacity: args.capacity, rules: rules.clone() })
        .or_else(|error| print_instead(args, &rules, &error.to_string()))
}

/// Without a window, the same files as text.
fn print_instead(args: &OpenArgs, rules: &Rules, reason: &str) -> Result<(), Failure> {
    if args.files.is_empty() {
        return Err(Failure::new(
            format_args!("{reason}"),
            "use 'oomscope stats FILE' or 'oomscope live FILE' instead",
        ));
    }
    output::notice(&format!("{reason}; printing the figures of 'oomscope stats' instead"));
    let mut out = output::stdout();
    for path in &args.files {
        report::stats_text(&mut out, &path.display().to_string(), &*loading::load(path)?, rules)?;
    }
    out.flush()?;
    Ok(())
}
