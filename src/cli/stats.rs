//! `oomscope stats`.

use super::failure::Failure;
use super::loading::Loaded;
use super::output::{self, TextOrJson};
use super::select::{Files, RulesFile};
use crate::analysis::UserRules;
use crate::report;
use clap::Args;
use std::io::Write;

/// Arguments of `stats`.
#[derive(Debug, Args)]
#[command(
    mut_arg("rules", |arg| arg.value_name("FILE")),
    after_help = "Examples:
  oomscope stats snapshot.pickle
  oomscope stats rank*.pickle --format json > stats.json
  ssh node cat oom.pickle | oomscope stats -

The JSON is an array with one record per device and file; sizes are in bytes, and an event index
of -1 is the state before the first event. A file that cannot be read is named on standard error and
left out; the exit code is then 1."
)]
pub(super) struct StatsArgs {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    rules: RulesFile,
    /// How to write it
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

pub(super) fn run(args: &StatsArgs) -> Result<(), Failure> {
    let rules = args.rules.read(&args.files.paths)?;
    let mut out = output::stdout();
    let mut files = Loaded::new(&args.files.paths);
    let written = match args.format {
        TextOrJson::Text => text(&mut out, &mut files, &rules),
        TextOrJson::Json => json(&mut out, &mut files, &rules),
    };
    files.end(written)
}

/// Write the figures of each file, with an empty line between files.
pub(super) fn text(out: &mut dyn Write, files: &mut Loaded<'_>, rules: &UserRules) -> Result<(), Failure> {
    for (i, (path, snapshot)) in files.enumerate() {
        if i != 0 {
            writeln!(out)?;
        }
        report::stats_text(out, &path.display().to_string(), &snapshot, rules)?;
    }
    Ok(out.flush()?)
}

fn json(out: &mut dyn Write, files: &mut Loaded<'_>, rules: &UserRules) -> Result<(), Failure> {
    let mut files = files.map(|(path, snapshot)| (path.display().to_string(), snapshot)).peekable();
    // If no file can be read, an empty array would look like an answer.
    if files.peek().is_some() {
        report::stats_json(out, files, rules)?;
    }
    Ok(out.flush()?)
}
