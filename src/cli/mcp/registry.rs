//! The register of tools: a line for each file in `tools`.

use super::answer::Answer;
use super::call::Call;
use super::folders::Folders;
use super::parameter::check;
use super::refusal::Refusal;
use super::shelf::Shelf;
use super::tool::Tool;
use super::tools::{diff, explain, list, live, ranks, remedies, series, summary, verdict};
use oomscope_snapshot::load::ManyProgress;
use serde_json::{Map, Value};
use std::cell::RefCell;

/// All tools, in the order in which clients list them.
pub(super) static TOOLS: [Tool; 9] = [
    list::TOOL,
    summary::TOOL,
    verdict::TOOL,
    live::TOOL,
    explain::TOOL,
    diff::TOOL,
    remedies::TOOL,
    series::TOOL,
    ranks::TOOL,
];

/// The answer to a call.
#[derive(Debug)]
pub(super) struct Reply {
    /// The document.
    pub(super) text: String,
    /// What is to be known of it besides.
    pub(super) remarks: Vec<String>,
}

/// Answer a call of a tool. A cancellation of `progress` ends it early where it takes long.
pub(super) fn answer(
    tool: &Tool,
    arguments: &Map<String, Value>,
    folders: &Folders,
    shelf: &mut Shelf,
    progress: &ManyProgress,
) -> Result<Reply, Refusal> {
    check(tool.parameters, arguments)?;
    let (shelf, remarks) = (RefCell::new(shelf), RefCell::default());
    let call = Call { parameters: tool.parameters, arguments, folders, shelf, progress, remarks };
    let mut out = Answer::default();
    let answered = (tool.answer)(&call, &mut out);
    if progress.is_cancelled() {
        return Err(Refusal::Cancelled);
    }
    // A document that got too long ended with an error.
    if !out.is_short() {
        answered?;
    }
    let (text, cut) = out.finish();
    let remarks = cut.into_iter().chain(call.remarks.into_inner()).collect();
    Ok(Reply { text, remarks })
}
