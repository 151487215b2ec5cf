//! `oomscope FILE…`: the window.

use super::loading::Loaded;
use super::{Failure, output, rules, stats};
use crate::analysis::UserRules;
use crate::units;
use clap::Args;
use std::path::{Path, PathBuf};

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
    let files: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
    let rules = rules::read(args.rules.as_deref(), &files)?;
    window(args, &rules).or_else(|reason| print_instead(args, &rules, &reason))
}

/// Open the window, and return when it is closed; or why there is none.
#[cfg(feature = "window")]
fn window(args: &OpenArgs, rules: &UserRules) -> Result<(), String> {
    use crate::{app, load::Input};
    let files = args.files.iter().map(|path| Input::from_arg(path)).collect();
    app::run(app::Options { files, capacity: args.capacity, rules: rules.clone() })
        .map_err(|error| error.to_string())
}

/// This program was built without the window.
#[cfg(not(feature = "window"))]
fn window(args: &OpenArgs, _: &UserRules) -> Result<(), String> {
    // Only the window draws it.
    _ = args.capacity;
    Err("this oomscope was built without its window".to_owned())
}

/// Without a window, the same files as text.
fn print_instead(args: &OpenArgs, rules: &UserRules, reason: &str) -> Result<(), Failure> {
    if args.files.is_empty() {
        return Err(Failure::new(
            format_args!("{reason}"),
            "use 'oomscope stats FILE' or 'oomscope live FILE' instead",
        ));
    }
    output::notice(&format!("{reason}; printing the figures of 'oomscope stats' instead"));
    let mut files = Loaded::new(&args.files);
    let written = stats::text(&mut output::stdout(), &mut files, rules);
    files.end(written)
}
