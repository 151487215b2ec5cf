//! `oomscope mcp`: the queries of the command line as tools of a Model Context Protocol server.
//!
//! A client (mostly a coding agent) starts the program and speaks JSON-RPC with it over standard input and output.
//! [`server`] alone knows the protocol and the async runtime; [`registry`] lists the tools, each a file in
//! [`tools`]. A tool answers with the document that the command writes as JSON, bounded by [`answer`]. Only files in the
//! folders of the command line are read ([`folders`]).

mod answer;
mod call;
mod folders;
mod lines;
mod parameter;
mod refusal;
mod registry;
mod server;
mod shelf;
mod tool;
mod tools;

use super::failure::Failure;
use clap::Args;
use folders::Folders;
use std::path::PathBuf;

/// Arguments of `mcp`.
#[derive(Debug, Args)]
#[command(after_help = "Example of a client's configuration:
  {\"mcpServers\": {\"oomscope\": {
      \"command\": \"oomscope\", \"args\": [\"mcp\", \"/home/me/snapshots\"]}}}

The tools are summary, verdict, live, explain, diff, remedies, series, ranks and list. They answer with the \
JSON of the commands, and read only files in the directories. docs/mcp.md describes them.")]
pub(super) struct McpArgs {
    /// Directories whose snapshots may be read, including their subdirectories
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
}

pub(super) fn run(args: &McpArgs) -> Result<(), Failure> {
    server::serve(Folders::new(&args.folders)?)
}
