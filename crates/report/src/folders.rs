//! The snapshots of folders, as JSON; docs/json.md describes it.

use super::json;
use serde::Serialize;
use std::io::{self, Write};

/// The name of the format.
const SCHEMA: &str = "oomscope-folders";

/// Its number. It changes when a key changes its meaning or goes.
const VERSION: u32 = 2;

#[derive(Serialize)]
struct Record<'a> {
    schema: &'static str,
    version: u32,
    folders: &'a [ListedFolder],
}

/// A folder and its snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedFolder {
    /// Its path.
    pub folder: String,
    /// Its snapshots, by name.
    pub files: Vec<ListedFile>,
    /// The folders in it.
    pub folders: Vec<String>,
    /// Number of files and folders that are left out since they are links that lead outside.
    pub links_left_out: usize,
    /// True if the folder has more than is listed.
    pub is_cut: bool,
}

/// A file that may be a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedFile {
    /// Its path.
    pub file: String,
    /// Its length.
    pub bytes: u64,
    /// The time of its last change, in microseconds since 1970; null where the system does not tell.
    pub modified_us: Option<i64>,
}

/// Write the snapshots of folders.
///
/// # Errors
/// When writing fails.
pub fn folders_json(out: &mut dyn Write, folders: &[ListedFolder]) -> io::Result<()> {
    json::write(out, &Record { schema: SCHEMA, version: VERSION, folders })
}
