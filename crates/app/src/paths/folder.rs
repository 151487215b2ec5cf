//! What a folder holds, read on a thread of its own.

use crate::work::worker::Task;
use oomscope_snapshot::load::endings;
use oomscope_units as units;
use std::fs::{self, DirEntry, FileType};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The most entries that are read of a folder: more than anyone looks through, and a few MiB of memory.
pub(super) const MAX_ENTRIES: usize = 20_000;

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    Folder,
    /// A file whose name is one of a snapshot.
    Snapshot,
    /// Another file.
    Other,
}

/// One file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its name, fit to be shown.
    pub(super) name: String,
    /// Whether the name on the disk is this one, so that it can be written in the field.
    pub(super) is_exact: bool,
    pub(super) path: PathBuf,
    pub(super) kind: EntryKind,
    /// Its size and the time of its last change, for files.
    pub(super) size_bytes: Option<u64>,
    pub(super) modified: Option<SystemTime>,
}

/// What a folder holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// Files, the newest first, then folders by name.
    pub(super) entries: Vec<Entry>,
    /// There are more entries than are read.
    pub(super) is_cut: bool,
}

/// Reads folders. An error is its text.
#[derive(Debug, Clone)]
pub(super) struct ReadFolder;

impl Task for ReadFolder {
    type Request = PathBuf;
    type Response = Result<Arc<Listing>, String>;

    fn run(&self, folder: &PathBuf) -> Self::Response {
        match read(folder) {
            Ok(listing) => Ok(Arc::new(listing)),
            Err(error) => Err(units::printable(&error.to_string())),
        }
    }
}

fn read(folder: &Path) -> std::io::Result<Listing> {
    let mut found = fs::read_dir(folder)?.flatten();
    let mut entries: Vec<Entry> =
        found.by_ref().take(MAX_ENTRIES).filter_map(|found| entry(&found)).collect();
    let is_cut = found.next().is_some();
    entries.sort_by(|a, b| {
        let is_folder = |entry: &Entry| entry.kind == EntryKind::Folder;
        (is_folder(a), b.modified, &a.name).cmp(&(is_folder(b), a.modified, &b.name))
    });
    Ok(Listing { entries, is_cut })
}

/// An entry; `None` for what is neither a file nor a folder, nor a link to one.
fn entry(found: &DirEntry) -> Option<Entry> {
    let file_name = found.file_name();
    let path = found.path();
    // Links are followed. One that leads nowhere is left out.
    let link = found.file_type().ok().filter(FileType::is_symlink);
    let metadata = if link.is_some() { fs::metadata(&path) } else { found.metadata() }.ok()?;
    let name = units::printable(&file_name.to_string_lossy());
    let is_exact = file_name.to_str() == Some(&name);
    let kind = match () {
        () if metadata.is_dir() => EntryKind::Folder,
        () if is_snapshot_name(&path) => EntryKind::Snapshot,
        () => EntryKind::Other,
    };
    let is_folder = kind == EntryKind::Folder;
    Some(Entry {
        name,
        is_exact,
        path,
        kind,
        size_bytes: (!is_folder).then_some(metadata.len()),
        modified: metadata.modified().ok().filter(|_| !is_folder),
    })
}

/// Whether a file's name is one of a snapshot.
fn is_snapshot_name(path: &Path) -> bool {
    path.extension().is_some_and(|found| endings().any(|known| found.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_first_the_newest_on_top_and_folders_follow_by_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["b", "a"] {
            fs::create_dir(folder.path().join(name)).expect("a temporary folder");
        }
        let old = SystemTime::UNIX_EPOCH;
        for (name, changed) in [("old.pickle", Some(old)), ("new.pkl.gz", None), ("notes.txt", Some(old))] {
            let file = fs::File::create(folder.path().join(name)).expect("a temporary file");
            file.set_len(5).expect("a temporary file");
            if let Some(changed) = changed {
                file.set_modified(changed).expect("its owner may");
            }
        }
        let listing = read(folder.path()).expect("the folder is there");
        let seen: Vec<_> = listing.entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
        let expected = [
            ("new.pkl.gz", EntryKind::Snapshot),
            ("notes.txt", EntryKind::Other),
            ("old.pickle", EntryKind::Snapshot),
            ("a", EntryKind::Folder),
            ("b", EntryKind::Folder),
        ];
        assert_eq!(seen, expected);
        assert_eq!(listing.entries[0].size_bytes, Some(5));
        assert!(!listing.is_cut);
    }

    #[test]
    fn a_folder_that_cannot_be_read_says_why() {
        let error = ReadFolder.run(&PathBuf::from("/no/such/folder")).expect_err("it is not there");
        assert!(!error.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_what_they_lead_to_and_odd_names_are_not_exact() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("a\u{202e}.pickle"), "x").expect("a temporary file");
        std::os::unix::fs::symlink(folder.path(), folder.path().join("self")).expect("a link");
        std::os::unix::fs::symlink("nowhere", folder.path().join("lost.pickle")).expect("a link");
        let listing = read(folder.path()).expect("the folder is there");
        let seen: Vec<_> = listing.entries.iter().map(|entry| (entry.is_exact, entry.kind)).collect();
        assert_eq!(seen, [(false, EntryKind::Snapshot), (true, EntryKind::Folder)]);
    }
}
