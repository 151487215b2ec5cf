//! `summary`: the figures of `oomscope stats`.

use crate::cli::mcp::call::Call;
use crate::cli::mcp::refusal::Refusal;
use crate::cli::mcp::tool::{AT, FILE, FILTER, Tool};
use crate::cli::stats;
use std::io::Write;

pub(in crate::cli::mcp) const TOOL: Tool = Tool {
    name: "summary",
    about: "The figures of each device of a snapshot: peaks of active, allocated and reserved memory, bytes by category, lines \
            of code at the peak, iterations, modules, OOMs, settings. The JSON of 'oomscope stats'",
    parameters: &[FILE, AT, FILTER],
    answer,
};

fn answer(call: &Call<'_>, out: &mut dyn Write) -> Result<(), Refusal> {
    let file = call.file("file")?;
    let args = call.args(&["--format=json"], &[&file])?;
    Ok(stats::write_json(out, &args, &call.open(&file)?, &|text| call.remark(text))?)
}
