//! `oomscope FILE…`: the window.

use super::failure::Failure;
use super::loading::Loaded;
use super::select::{Capacity, RulesFile};
use super::{output, stats, stderr};
use crate::analysis::UserRules;
use crate::report::StatsRequest;
use clap::Args;
use std::path::PathBuf;

/// Arguments without a subcommand.
#[derive(Debug, Args)]
pub(super) struct OpenArgs {
    /// Snapshots to open in the window; '-' is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    capacity: Capacity,
    #[command(flatten)]
    rules: RulesFile,
}

pub(super) fn run(args: &OpenArgs) -> Result<(), Failure> {
    let rules = args.rules.read(&args.files)?;
    window(args, &rules).or_else(|reason| print_instead(args, &rules, &reason))
}

/// Open the window, and return when it is closed. An error says why there is no window.
#[cfg(feature = "window")]
fn window(args: &OpenArgs, rules: &UserRules) -> Result<(), String> {
    use crate::{app, load::Input};
    let files = args.files.iter().map(|path| Input::from_arg(path)).collect();
    app::run(app::Options { files, capacity: args.capacity.bytes, rules: rules.clone() })
        .map_err(|error| error.to_string())
}

/// The error of a program that was built without the window.
#[cfg(not(feature = "window"))]
fn window(args: &OpenArgs, _: &UserRules) -> Result<(), String> {
    // Read here, since only the window uses it.
    _ = args.capacity.bytes;
    Err("this oomscope was built without its window".to_owned())
}

/// Without a window, print the files as text.
fn print_instead(args: &OpenArgs, rules: &UserRules, reason: &str) -> Result<(), Failure> {
    if args.files.is_empty() {
        return Err(Failure::new(
            format_args!("{reason}"),
            "use 'oomscope stats FILE' or 'oomscope live FILE' instead",
        ));
    }
    stderr::notice(&format!("{reason}; printing the figures of 'oomscope stats' instead"));
    let mut files = Loaded::new(&args.files);
    let written = stats::text(&mut output::stdout(), &mut files, StatsRequest::new(rules));
    files.end(written)
}
