//! `remedies`: the predictions of `oomscope remedies`.

use crate::cli::mcp::call::Call;
use crate::cli::mcp::parameter::{Kind, Parameter};
use crate::cli::mcp::refusal::Refusal;
use crate::cli::mcp::tool::{CAPACITY, DEVICE, FILE, Tool};
use crate::cli::remedies;
use crate::remedies::predict;
use std::io::Write;

pub(in crate::cli::mcp) const TOOL: Tool = Tool {
    name: "remedies",
    about: "What changes to the program would have saved: another optimizer, checkpointing, allocator settings and more, each with \
            the peak that would have followed, simulated. Takes seconds for large snapshots. The JSON of 'oomscope remedies'",
    parameters: &[
        FILE,
        DEVICE,
        CAPACITY,
        Parameter::optional(
            "only",
            Kind::Text,
            "Only these, by their ids with commas between; '+' tries several at once: sgd,sgd+zero-grad-none",
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
    Ok(remedies::write(out, &args, &opened, &|scene, only| predict(scene, only, &goes_on), &notice)?)
}
