//! `live`: the allocations of `oomscope live`.

use crate::cli::live;
use crate::cli::mcp::call::Call;
use crate::cli::mcp::parameter::Parameter;
use crate::cli::mcp::refusal::Refusal;
use crate::cli::mcp::tool::{AT, DEVICE, FILE, FILTER, Tool};
use std::io::Write;

pub(in crate::cli::mcp) const TOOL: Tool = Tool {
    name: "live",
    about: "The allocations that are live at a moment, largest first, each with its category, how surely that is known, and its \
            stack. The JSON of 'oomscope live'",
    parameters: &[
        FILE,
        AT,
        DEVICE,
        FILTER,
        Parameter::number("top", 20, "Only the N largest; at most 100 are answered"),
        Parameter::number("frames", 8, "At most N frames of each stack, innermost first"),
    ],
    answer,
};

fn answer(call: &Call<'_>, out: &mut dyn Write) -> Result<(), Refusal> {
    let file = call.file("file")?;
    let args = call.args(&["--format=json"], &[&file])?;
    Ok(live::write(out, &args, &call.open(&file)?, &|text| call.remark(text))?)
}
