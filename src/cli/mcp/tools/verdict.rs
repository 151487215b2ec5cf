//! `verdict`: the report of `oomscope report`.

use crate::cli::mcp::call::Call;
use crate::cli::mcp::parameter::Parameter;
use crate::cli::mcp::refusal::Refusal;
use crate::cli::mcp::tool::{AT, CAPACITY, DEVICE, FILE, Tool};
use crate::cli::report;
use std::io::Write;

pub(in crate::cli::mcp) const TOOL: Tool = Tool {
    name: "verdict",
    about: "Why memory ran out, or what fills it at the peak, with evidence, advice and what the recording cannot show. The first \
            finding is the verdict; its fix has what it was simulated to give. Takes seconds for large snapshots. The JSON of \
            'oomscope report'",
    parameters: &[
        FILE,
        AT,
        DEVICE,
        CAPACITY,
        Parameter::number("top", 3, "How many lines of code, stacks and allocations each finding lists"),
    ],
    answer,
};

fn answer(call: &Call<'_>, out: &mut dyn Write) -> Result<(), Refusal> {
    let file = call.file("file")?;
    // Notes are in another file, which may lie anywhere.
    let args = call.args(&["--format=json", "--no-notes"], &[&file])?;
    let goes_on = |_, _| !call.progress.is_cancelled();
    Ok(report::write(out, &args, &call.open(&file)?, &goes_on)?)
}
