//! `explain`: what `oomscope explain` says of an allocation.

use crate::cli::explain;
use crate::cli::mcp::call::Call;
use crate::cli::mcp::parameter::{Kind, Parameter};
use crate::cli::mcp::refusal::Refusal;
use crate::cli::mcp::tool::{AT, DEVICE, FILE, Tool};
use std::io::Write;

pub(in crate::cli::mcp) const TOOL: Tool = Tool {
    name: "explain",
    about: "What one allocation is for: the rule that decided its category, how surely, its evidence, and what other rules said. \
            The JSON of 'oomscope explain'",
    parameters: &[
        FILE,
        Parameter::required(
            "address",
            Kind::Operand,
            "An address of the allocation as live shows it, and after '@' the event that made it (-1: older than the \
             recording): 0x7f21ac000000@41220",
        ),
        AT,
        DEVICE,
    ],
    answer,
};

fn answer(call: &Call<'_>, out: &mut dyn Write) -> Result<(), Refusal> {
    let file = call.file("file")?;
    let args = call.args(&["--format=json"], &[&file])?;
    Ok(explain::write(out, &args, &call.open(&file)?)?)
}
