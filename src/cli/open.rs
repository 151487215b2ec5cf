//! `oomscope FILE…`: the window.

use super::failure::Failure;
use super::loading::Loaded;
use super::select::{Capacity, RulesFile};
use super::{output, stats, stderr};
use crate::analysis::UserRules;
use crate::load::FolderListing;
use crate::notes::Place;
use crate::report::StatsRequest;
use clap::Args;
use std::path::PathBuf;

/// Arguments without a subcommand.
#[derive(Debug, Args)]
pub(super) struct OpenArgs {
    /// Snapshots to open in the window, or directories to list there; '-' is standard input
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// The place to show in the first file: 'event=2528 select=alloc:1234'. The window copies such links (L)
    #[arg(long, value_name = "PLACE", requires = "files", value_parser = parse_place)]
    go: Option<Place>,
    #[command(flatten)]
    capacity: Capacity,
    #[command(flatten)]
    rules: RulesFile,
}

/// A place as the window writes it. The help has the rest of what is expected.
fn parse_place(text: &str) -> Result<Place, String> {
    text.parse::<Place>().map_err(|error| error.to_string())
}

pub(super) fn run(args: &OpenArgs) -> Result<(), Failure> {
    for word in args.go.iter().flat_map(|place| &place.unknown) {
        stderr::notice(&format!("--go: '{word}' is not known to this version and left out"));
    }
    let rules = args.rules.read(&args.files)?;
    window(args, &rules).or_else(|reason| print_instead(args, &rules, &reason))
}

/// Open the window, and return when it is closed. An error says why there is no window.
#[cfg(feature = "window")]
fn window(args: &OpenArgs, rules: &UserRules) -> Result<(), String> {
    use crate::{app, load::Input};
    use std::path::Path;
    let files = args.files.iter().map(|path| Input::from_arg(path)).collect();
    let go = args.go.clone();
    let rules_file = args.rules.path().map(Path::to_owned);
    let options = app::Options { files, capacity: args.capacity.bytes, rules: rules.clone(), rules_file, go };
    app::run(options).map_err(|error| error.to_string())
}

/// The error of a program that was built without the window.
#[cfg(not(feature = "window"))]
fn window(args: &OpenArgs, _: &UserRules) -> Result<(), String> {
    // Read here, since only the window uses it.
    _ = (args.capacity.bytes, &args.go);
    Err("this oomscope was built without its window".to_owned())
}

/// The files, with the snapshots of each directory in its place, as the window lists them.
fn with_listed(files: &[PathBuf]) -> Vec<PathBuf> {
    let snapshots = |path: &PathBuf| {
        let listing = if path.is_dir() { FolderListing::of(path).ok() } else { None };
        let listed = listing.map_or_else(Vec::new, |listing| listing.files);
        let listed: Vec<PathBuf> = listed.into_iter().map(|entry| entry.path).collect();
        // A directory without snapshots is reported as one that cannot be read.
        if listed.is_empty() { vec![path.clone()] } else { listed }
    };
    files.iter().flat_map(snapshots).collect()
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
    let files = with_listed(&args.files);
    let mut files = Loaded::new(&files);
    let written = stats::text(&mut output::stdout(), &mut files, StatsRequest::new(rules));
    files.end(written)
}
