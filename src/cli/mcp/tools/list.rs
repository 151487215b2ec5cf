//! `list`: the snapshots in the allowed folders.

use crate::cli::mcp::call::Call;
use crate::cli::mcp::parameter::{Kind, Parameter};
use crate::cli::mcp::refusal::Refusal;
use crate::cli::mcp::tool::Tool;
use oomscope_report::{ListedFile, ListedFolder, folders_json};
use std::io::Write;
use std::path::Path;

pub(in crate::cli::mcp) const TOOL: Tool = Tool {
    name: "list",
    about: "The snapshots in the allowed folders, or in one folder: names, sizes, times of the last change, and the folders below, \
            which can be listed in turn",
    parameters: &[Parameter::optional(
        "folder",
        Kind::Path,
        "A folder in an allowed one; without it, the allowed ones",
    )],
    answer,
};

fn answer(call: &Call<'_>, out: &mut dyn Write) -> Result<(), Refusal> {
    let asked = call.text("folder").map(|folder| call.folders.folder(folder)).transpose()?;
    let folders = asked.as_ref().map_or(call.folders.all(), std::slice::from_ref);
    let listed: Result<Vec<ListedFolder>, Refusal> =
        folders.iter().map(|folder| listed(call, folder)).collect();
    Ok(folders_json(out, &listed?)?)
}

fn listed(call: &Call<'_>, folder: &Path) -> Result<ListedFolder, Refusal> {
    let (listing, left_out) = call.folders.listing(folder)?;
    let files = listing.files.iter().map(|entry| ListedFile {
        file: call.folders.name(&entry.path).display().to_string(),
        bytes: entry.stamp.bytes(),
        modified_us: entry.stamp.modified_us(),
    });
    Ok(ListedFolder {
        folder: call.folders.name(folder).display().to_string(),
        files: files.collect(),
        folders: listing.folders.iter().map(|path| call.folders.name(path).display().to_string()).collect(),
        links_left_out: left_out,
        is_cut: listing.is_cut,
    })
}
