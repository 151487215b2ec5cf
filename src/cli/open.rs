//! `oomscope FILE…`: the window.

use super::failure::Failure;
use super::select::{Capacity, RulesFile};
use super::terminal::stdout_style;
use super::{loading, output, report, stderr};
use clap::Args;
use oomscope_analysis::UserRules;
use oomscope_model::Recording;
use oomscope_report::notes::Place;
use oomscope_report::{GlanceText, listing_text};
use oomscope_snapshot::load::FolderListing;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Cells of a line of a list that is no terminal's: agents read many lines.
const LIST_WIDTH: usize = 78;

/// Arguments without a subcommand.
#[derive(Debug, Args)]
pub(super) struct OpenArgs {
    /// Snapshots to open in the window, or directories to list in it; '-' is standard input
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Open the first file at a place, such as 'event=2528 select=alloc:1234'
    ///
    /// The key L in the window copies the place that it shows.
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
    use super::settings::{Theme, settings};
    use oomscope_app as app;
    use oomscope_snapshot::load::Input;
    let files = args.files.iter().map(|path| Input::from_arg(path)).collect();
    let go = args.go.clone();
    let rules_file = args.rules.path().map(Path::to_owned);
    let theme = settings().and_then(|settings| settings.theme).map(|theme| match theme {
        Theme::Dark => app::Theme::Dark,
        Theme::Light => app::Theme::Light,
        Theme::System => app::Theme::System,
    });
    let (capacity, rules) = (args.capacity.bytes, rules.clone());
    let options = app::Options { files, capacity, rules, rules_file, go, theme };
    app::run(options).map_err(|error| error.to_string())
}

/// The error of a program that was built without the window.
#[cfg(not(feature = "window"))]
fn window(args: &OpenArgs, _: &UserRules) -> Result<(), String> {
    // Read here, since only the window uses it.
    _ = (args.capacity.bytes, &args.go);
    Err("this oomscope was built without its window".to_owned())
}

/// The snapshots of a directory, as the window lists them; a directory without any is named as one that cannot be read.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let listing = FolderListing::of(folder).map_or_else(|_| Vec::new(), |listing| listing.files);
    let files: Vec<PathBuf> = listing.into_iter().map(|entry| entry.path).collect();
    if files.is_empty() { vec![folder.to_owned()] } else { files }
}

/// Without a window, print what it would show first: the report of a file, the list of a directory.
fn print_instead(args: &OpenArgs, rules: &UserRules, reason: &str) -> Result<(), Failure> {
    if args.files.is_empty() {
        return Err(Failure::new(format_args!("{reason}"), "use 'oomscope report FILE' instead"));
    }
    let has_files = args.files.iter().any(|path| !path.is_dir());
    let what = if has_files { "the report" } else { "the list" };
    stderr::notice(&format!("{reason}; printing {what} instead"));
    let mut has_failed = false;
    for (at, path) in args.files.iter().enumerate() {
        if at != 0 {
            writeln!(output::stdout())?;
        }
        match print_one(args, rules, path) {
            Ok(()) => {}
            // Nobody reads on.
            Err(Failure::Silent(code)) if code == ExitCode::SUCCESS => break,
            Err(failure) => {
                failure.report();
                has_failed = true;
            }
        }
    }
    if has_failed { Err(Failure::Silent(ExitCode::FAILURE)) } else { Ok(()) }
}

fn print_one(args: &OpenArgs, rules: &UserRules, path: &Path) -> Result<(), Failure> {
    if !path.is_dir() {
        return report::print(path, rules, &args.capacity);
    }
    let mut rows = Vec::new();
    for file in listed(path) {
        // Names are those within the folder.
        let name = file.strip_prefix(path).unwrap_or(&file).display().to_string();
        rows.push((name, glance(&file, rules)));
    }
    let mut out = output::stdout();
    let width = stdout_style().table_width.unwrap_or(LIST_WIDTH);
    listing_text(&mut out, &rows, width)?;
    out.flush()?;
    let has_failed = rows.iter().any(|(_, found)| found.is_err());
    if has_failed { Err(Failure::Silent(ExitCode::FAILURE)) } else { Ok(()) }
}

/// What is said of a file in a line, or why it cannot be read.
fn glance(file: &Path, rules: &UserRules) -> Result<GlanceText, String> {
    let snapshot = loading::load_quietly(file).map_err(|failure| match failure {
        Failure::Message { message, .. } => message,
        Failure::Silent(_) => String::new(),
    })?;
    let recording = Recording::main(&snapshot).ok_or("holds no memory of any device")?;
    Ok(GlanceText::of(&recording, rules))
}
