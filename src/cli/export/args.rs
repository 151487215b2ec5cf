//! The arguments of `export`.

use crate::cli::failure::Failure;
use crate::cli::max_output::MaxOutput;
use crate::cli::names::{named, one_of};
use crate::cli::select::{
    NamedRange, Source, Target, parse_filter, parse_range, with_filters, with_moments, with_ranges,
};
use clap::Args;
use clap::builder::TypedValueParser;
use oomscope_analysis::filter::Filter;
use oomscope_export::interchange::{Content, FORMATS, Format, TABLES, Table};
use std::path::PathBuf;

/// Arguments of `export`.
#[derive(Debug, Args)]
#[command(
    mut_arg("at", |arg| {
        let help = "Export the state at a moment, and the events that led to it";
        let long = "Export the state at a moment, and the events that led to it\n\nWithout --at and --range, \
            tables and traces are of the whole recording, and stacks are of the last OOM, or of the peak if no \
            request failed.";
        with_moments(arg.help(help).long_help(long).conflicts_with("range"))
    }),
    mut_arg("device", |arg| arg.help("Only this device, -1 for pinned host memory [default: all]")),
    mut_arg("range", with_ranges),
    mut_arg("filter", with_filters),
    after_help = "Examples:
  oomscope export run.pickle --format csv -o tables/   # a file for each table
  oomscope export run.pickle --format csv --table blocks --at oom -o blocks.csv
  # Only activations, with their events:
  oomscope export run.pickle --format jsonl --filter category:activation -o a/
  # Stacks for speedscope and inferno, and for go tool pprof:
  oomscope export run.pickle --format folded --at oom -o live.folded
  oomscope export run.pickle --format pprof --range iteration:3 -o step.pb.gz
  # A trace for ui.perfetto.dev, beside one of torch.profiler:
  oomscope export run.pickle --format perfetto --profile t.json -o run.pftrace

docs/export.md describes formats, tables and columns, with examples for DuckDB and Polars."
)]
pub(in crate::cli) struct ExportArgs {
    #[command(flatten)]
    pub(super) source: Source,
    /// Output format
    #[arg(long, value_parser = format_parser())]
    pub(super) format: &'static Format,
    /// Write only this table, to a file [default: all tables, to the directory of --output]
    #[arg(long, value_parser = table_parser())]
    pub(super) table: Option<&'static Table>,
    /// Export only these events and what was live then, such as iteration:3 or 40000..41220
    #[arg(long, value_name = "RANGE", value_parser = parse_range)]
    pub(super) range: Option<NamedRange>,
    #[command(flatten)]
    pub(super) target: Target,
    /// Export only allocations that match, and their events, such as 'size>100MB attention'
    #[arg(long, value_name = "QUERY", value_parser = parse_filter, allow_hyphen_values = true)]
    pub(super) filter: Option<Filter>,
    /// Add a trace that torch.profiler wrote in the same run, for --format perfetto
    ///
    /// Its spans are shown beside the memory, on one clock. The file is that of `export_chrome_trace`, plain or .gz.
    #[arg(long, value_name = "FILE")]
    pub(super) profile: Option<PathBuf>,
    /// Output file, or directory of all tables, overwritten if it exists [default: -]
    ///
    /// '-' is standard output. In a directory, only the files of the tables are overwritten.
    #[arg(short, long, value_name = "FILE")]
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
