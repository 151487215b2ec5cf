//! `ranks`: the comparison of `oomscope ranks`.

use crate::cli::mcp::call::Call;
use crate::cli::mcp::parameter::{Kind, Parameter};
use crate::cli::mcp::refusal::Refusal;
use crate::cli::mcp::tool::Tool;
use crate::cli::ranks;
use oomscope_report::ranks::ranks_json;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(in crate::cli::mcp) const TOOL: Tool = Tool {
    name: "ranks",
    about: "The ranks of a job side by side: peaks, the outlier with the lines of code that make the difference, who \
            failed first and how the others stood. The JSON of 'oomscope ranks'",
    parameters: &[
        Parameter::required(
            "folder",
            Kind::Path,
            "An allowed folder, or one in it, with a snapshot for each rank",
        ),
        Parameter::optional(
            "one_gpu",
            Kind::Flag,
            "The files are of programs that share one GPU: add up what they reserve, by the clock",
        ),
    ],
    answer,
};

fn answer(call: &Call<'_>, out: &mut dyn Write) -> Result<(), Refusal> {
    let folder = call.folders.folder(call.text("folder").unwrap_or_default())?;
    let files = files(call, &folder)?;
    // Files of a job are loaded two at a time, besides what is kept.
    call.clear_shelf();
    let job = ranks::summaries(&files, &call.rules()?, call.progress);
    ranks::unread(&job)?;
    Ok(ranks_json(out, &job, call.is_set("one_gpu"))?)
}

/// The snapshots of a folder and of those in it, as the command finds them; none that lie outside.
fn files(call: &Call<'_>, folder: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let (listing, mut left_out) = call.folders.listing(folder)?;
    let mut files: Vec<PathBuf> = listing.files.into_iter().map(|entry| entry.path).collect();
    for below in &listing.folders {
        let (listing, outside) = call.folders.listing(below)?;
        left_out += outside;
        files.extend(listing.files.into_iter().map(|entry| entry.path));
    }
    if left_out != 0 {
        call.remark(&format!("{left_out} links lead outside of the allowed folders and are left out"));
    }
    if files.is_empty() {
        return Err(Refusal::Query {
            message: format!("{} has no snapshots", folder.display()),
            hint: "their names end in .pickle, .pkl or .html, compressed or not".to_owned(),
        });
    }
    Ok(files)
}
