//! `diff`: the comparison of `oomscope diff`.

use crate::cli::diff;
use crate::cli::mcp::call::Call;
use crate::cli::mcp::parameter::{Kind, Parameter};
use crate::cli::mcp::refusal::Refusal;
use crate::cli::mcp::tool::{AT, DEVICE, Tool};
use std::io::Write;

pub(in crate::cli::mcp) const TOOL: Tool = Tool {
    name: "diff",
    about: "Where the difference of two snapshots, or of two moments or devices of one, comes from: a sentence, then bytes by \
            category, module, line of code, pool and stream, each of which adds up. The JSON of 'oomscope diff'",
    parameters: &[
        Parameter::required("a", Kind::Path, "A snapshot in an allowed folder"),
        Parameter::optional(
            "b",
            Kind::Path,
            "Another one; without it, two moments or devices of a are compared",
        ),
        AT,
        Parameter::optional("at_a", Kind::Text, "The moment of a, if it is another than that of b"),
        Parameter::optional("at_b", Kind::Text, "The moment of b"),
        DEVICE,
        Parameter::optional("device_a", Kind::Number, "The device of a, if it is another than that of b"),
        Parameter::optional("device_b", Kind::Number, "The device of b"),
    ],
    answer,
};

fn answer(call: &Call<'_>, out: &mut dyn Write) -> Result<(), Refusal> {
    let a = call.file("a")?;
    let b = call.text("b").map(|_| call.file("b")).transpose()?;
    let paths: Vec<_> = [Some(a.as_path()), b.as_deref()].into_iter().flatten().collect();
    let args = call.args(&["--format=json"], &paths)?;
    let opened = [call.open(&a)?, call.open(b.as_deref().unwrap_or(&a))?];
    Ok(diff::write_opened(out, &args, &opened)?)
}
