//! The arguments. Each subcommand keeps its own beside what it does.

use super::{
    check::CheckArgs, explain::ExplainArgs, live::LiveArgs, open::OpenArgs, render::RenderArgs,
    report::ReportArgs, simulate::SimulateArgs, stats::StatsArgs,
};
use clap::{Parser, Subcommand};

/// See what filled the GPU: a viewer for PyTorch CUDA memory snapshots.
///
/// Without a command, opens a window with the allocation timeline of each file.
#[derive(Debug, Parser)]
#[command(
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  oomscope snapshot.pickle                  open the window
  oomscope stats rank*.pickle               a short summary of each file
  oomscope stats snapshot.pickle.gz --format json | jq '.[0].peak'
  oomscope live snapshot.pickle --at oom    what was live at the last OOM, largest first
  oomscope explain snapshot.pickle 0x7f21ac000000   what one allocation is for, and why
  oomscope report snapshot.pickle           why it ran out of memory, and what to do
  oomscope render snapshot.pickle -o a.png  a picture of the timeline, for a ticket
  oomscope simulate oom.pickle --sweep      would other allocator settings have saved it?

Reads pickles of torch.cuda.memory._dump_snapshot, plain or compressed (gzip, zstd, xz),
and the pages that python -m torch.cuda._memory_viz writes. '-' is standard input.
Nothing in a file is ever executed."
)]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) open: OpenArgs,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Print the figures of each device: peaks, totals, OOMs, holes
    Stats(StatsArgs),
    /// Print the allocations that are live at a moment, largest first
    Live(LiveArgs),
    /// Say why an allocation has its category: the rule, its evidence, and what it overruled
    Explain(ExplainArgs),
    /// Say why memory ran out, with evidence and advice: text, Markdown, HTML or JSON
    Report(ReportArgs),
    /// Write a picture of a view, without a display
    Render(RenderArgs),
    /// Check recordings against limits, for CI: exit code 3 when one is exceeded
    Check(CheckArgs),
    /// Replay a recording under other allocator settings
    Simulate(SimulateArgs),
    /// Print the licences of this program and of the packages it is built from
    Licenses,
}
