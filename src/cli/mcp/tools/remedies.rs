//! `fixes`: the predictions of `oomscope fixes`.

use crate::cli::mcp::call::Call;
use crate::cli::mcp::parameter::{Kind, Parameter};
use crate::cli::mcp::refusal::Refusal;
use crate::cli::mcp::tool::{CAPACITY, DEVICE, FILE, Tool};
use crate::cli::remedies;
use oomscope_remedies::predict;
use std::io::Write;

pub(in crate::cli::mcp) const TOOL: Tool = Tool {
    name: "fixes",
    about: "Which changes to the program make it fit, the cheapest first (plans): another optimizer, checkpointing, smaller batches, \
            allocator settings and more, each with its price and the peak that would follow, simulated. Takes seconds for large snapshots. The JSON of 'oomscope fixes'",
    parameters: &[
        FILE,
        DEVICE,
        CAPACITY,
        Parameter::optional(
            "only",
            Kind::Text,
            "Only these, by their ids with commas between; '+' tries several at once: sgd,sgd+zero-grad-none",
        ),
        Parameter::optional(
            "allow",
            Kind::Text,
            "Pay no other prices than these, with commas between: work, numbers, host, devices",
        ),
    ],
    answer,
};

fn answer(call: &Call<'_>, out: &mut dyn Write) -> Result<(), Refusal> {
    let file = call.file("file")?;
    let args = call.args(&["--format=json"], &[&file])?;
    let goes_on = |_, _| !call.progress.is_cancelled();
    let opened = call.open(&file)?;
    let notice = |text: &str| call.remark(text);
    Ok(remedies::write(out, &args, &opened, &|scene, wish| predict(scene, wish, &goes_on), &notice)?)
}
