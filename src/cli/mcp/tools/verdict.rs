//! `verdict`: the report of `oomscope report`.

use crate::cli::mcp::call::Call;
use crate::cli::mcp::parameter::{Kind, Parameter};
use crate::cli::mcp::refusal::Refusal;
use crate::cli::mcp::tool::{AT, CAPACITY, DEVICE, FILE, Tool};
use crate::cli::report;
use std::io::Write;

pub(in crate::cli::mcp) const TOOL: Tool = Tool {
    name: "verdict",
    about: "Why memory ran out, or what fills it at the peak: the cause, the line of code, what to change and what that was simulated \
            to give, in about 3 KB. With detail, all findings with their evidence, in tens of KB: the JSON of 'oomscope report'. \
            Takes seconds for large snapshots",
    parameters: &[
        FILE,
        AT,
        DEVICE,
        CAPACITY,
        Parameter::optional(
            "detail",
            Kind::Switch,
            "All findings, with evidence, figures, advice and limits",
        ),
        Parameter::number("top", 3, "How many lines of code, stacks and allocations each finding lists"),
    ],
    answer,
};

fn answer(call: &Call<'_>, out: &mut dyn Write) -> Result<(), Refusal> {
    let file = call.file("file")?;
    // Notes are in another file, which may lie anywhere.
    let mut options = vec!["--format=json", "--no-notes"];
    if !call.is_set("detail") {
        options.push("--brief");
    }
    let args = call.args(&options, &[&file])?;
    let goes_on = |_, _| !call.progress.is_cancelled();
    Ok(report::write(out, &args, &call.open(&file)?, &goes_on)?)
}
