//! `oomscope stats`.

use super::{Failure, loading, output, rules};
use crate::report;
use clap::{Args, ValueEnum};
use std::io::Write as _;
use std::path::PathBuf;

/// Arguments of `stats`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oomscope stats snapshot.pickle
  oomscope stats rank*.pickle --format json > stats.json
  ssh node cat oom.pickle | oomscope stats -

The JSON is an array with one record per device and file; sizes are in bytes, and an event index
of -1 is the state before the first event.")]
pub(super) struct StatsArgs {
    /// Snapshots; '-' is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Your own rules for categories, a TOML file; they come before all others
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// How to write it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

pub(super) fn run(args: &StatsArgs) -> Result<(), Failure> {
    let rules = rules::read(args.rules.as_deref())?;
    let mut out = output::stdout();
    match args.format {
        Format::Text => {
            for (i, path) in args.files.iter().enumerate() {
                if i != 0 {
                    writeln!(out)?;
                }
                report::stats_text(&mut out, &path.display().to_string(), &*loading::load(path)?, &rules)?;
            }
        }
        Format::Json => {
            let mut snapshots = Vec::new();
            for path in &args.files {
                snapshots.push((path.display().to_string(), loading::load(path)?));
            }
            let files: Vec<_> =
                snapshots.iter().map(|(name, snapshot)| (name.clone(), &**snapshot)).collect();
            report::stats_json(&mut out, &files, &rules)?;
        }
    }
    out.flush()?;
    Ok(())
}
