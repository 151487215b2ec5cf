//! The arguments of `export`.

use crate::cli::failure::Failure;
use crate::cli::max_output::MaxOutput;
use crate::cli::names::{named, one_of};
use crate::cli::select::{NamedRange, Source, Target, parse_filter, parse_range};
use clap::Args;
use clap::builder::TypedValueParser;
use oomscope_analysis::filter::Filter;
use oomscope_export::interchange::{Content, FORMATS, Format, TABLES, Table};
use std::path::PathBuf;

/// Arguments of `export`.
#[derive(Debug, Args)]
#[command(
    mut_arg("at", |arg| {
        let help = "The state at a moment: peak, oom (the last one), end, after an event's number, or the peak of a range \
            (peak-of:iteration:3), and the events that led to it; else the whole recording or, of stacks, the OOM or peak";
        arg.help(help).conflicts_with("range")
    }),
    mut_arg("device", |arg| arg.help("Only this device; -1 is pinned host memory")),
    mut_arg("rules", |arg| arg.value_name("TOML")),
    after_help = "Examples:
  oomscope export snapshot.pickle --format csv -o tables/         a file for each table
  oomscope export snapshot.pickle --format jsonl --table allocations -o allocations.jsonl
  oomscope export snapshot.pickle --format csv --table blocks --at oom | head
  oomscope export snapshot.pickle --format folded --at oom -o live.folded      for speedscope, inferno
  oomscope export snapshot.pickle --format perfetto --profile trace.json -o run.pftrace   ui.perfetto.dev
  oomscope export snapshot.pickle --format pprof --range iteration:3 -o step.pb.gz   go tool pprof
  oomscope export snapshot.pickle --format jsonl --filter 'category:activation' --range iteration:3 -o step/

docs/export.md describes formats, tables and columns, with examples for DuckDB and Polars."
)]
pub(in crate::cli) struct ExportArgs {
    #[command(flatten)]
    pub(super) source: Source,
    /// Output format
    #[arg(long, value_parser = format_parser())]
    pub(super) format: &'static Format,
    /// Only this table, as one file; else each table is a file of the folder OUT
    #[arg(long, value_parser = table_parser())]
    pub(super) table: Option<&'static Table>,
    /// Only these events, by their numbers, both ends included, and what was live then: 40000..41220; or iteration:3,
    /// phase:eval, or the NAME of an annotation: from its first event to its last
    #[arg(long, value_name = "A..B|RANGE", value_parser = parse_range)]
    pub(super) range: Option<NamedRange>,
    #[command(flatten)]
    pub(super) target: Target,
    /// Only allocations that match, and their events: 'size>100MB attention stream:7 -kept', as in the window
    #[arg(long, value_name = "QUERY", value_parser = parse_filter, allow_hyphen_values = true)]
    pub(super) filter: Option<Filter>,
    /// With --format perfetto: a trace that torch.profiler wrote in the same run, to stand beside the memory on one clock
    #[arg(long, value_name = "TRACE.json")]
    pub(super) profile: Option<PathBuf>,
    /// The file to write, or the folder of all tables; what is there is replaced. Without it, or as '-', standard output
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) max_output: MaxOutput,
}

impl ExportArgs {
    /// Refuse options that the format has no use for.
    pub(super) fn refuse_useless(&self) -> Result<(), Failure> {
        let name = self.format.name;
        if self.table.is_some() && !matches!(self.format.content, Content::Table(_)) {
            let hint = "leave out --table, or use --format csv";
            return Err(Failure::new(format_args!("--format {name} has no tables"), hint));
        }
        if self.profile.is_some() && !matches!(self.format.content, Content::Trace(_)) {
            let hint = "leave out --profile, or use --format perfetto";
            return Err(Failure::new(format_args!("--format {name} has no place for a profile"), hint));
        }
        Ok(())
    }
}

fn format_parser() -> impl TypedValueParser<Value = &'static Format> {
    one_of(FORMATS.iter().map(|format| named(format.name, format).help(format.about)))
}

fn table_parser() -> impl TypedValueParser<Value = &'static Table> {
    one_of(TABLES.into_iter().map(|table| named(table.name, table).help(table.about)))
}
