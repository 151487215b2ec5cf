//! The snapshots of a directory, by their names.

use super::FileStamp;
use super::container::{COMPRESSED, SNAPSHOTS};
use std::io;
use std::path::{Path, PathBuf};

/// Most entries of a directory that are looked at: more are no list to read, and slow on network file systems.
const MAX_ENTRIES: usize = 20_000;

/// Most snapshots, and most directories, of a listing.
const MAX_LISTED: usize = 2_000;

/// A file that may be a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    /// The file.
    pub path: PathBuf,
    /// Its version.
    pub stamp: FileStamp,
}

/// The snapshots and directories in a directory, by name. Nothing below them is looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderListing {
    /// Files whose names are those of snapshots.
    pub files: Vec<FolderEntry>,
    /// Directories, without hidden ones.
    pub folders: Vec<PathBuf>,
    /// True if the directory has more than is listed.
    pub is_cut: bool,
}

impl FolderListing {
    /// Look into a directory. May block for as long as the file system does.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let mut listing = Self::default();
        for (at, entry) in folder.read_dir()?.enumerate() {
            listing.is_cut |= at == MAX_ENTRIES;
            if listing.is_cut {
                break;
            }
            if let Ok(entry) = entry {
                listing.add(entry.path());
            }
        }
        listing.files.sort_by(|a, b| a.path.cmp(&b.path));
        listing.folders.sort_unstable();
        Ok(listing)
    }

    fn add(&mut self, path: PathBuf) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Other files are not asked for their size: that is slow in large directories.
        let stamp = if is_snapshot_name(&name) { FileStamp::of(&path) } else { None };
        let is_full = match stamp {
            Some(stamp) if self.files.len() < MAX_LISTED => {
                self.files.push(FolderEntry { path, stamp });
                false
            }
            None if name.starts_with('.') || !path.is_dir() => false,
            None if self.folders.len() < MAX_LISTED => {
                self.folders.push(path);
                false
            }
            _ => true,
        };
        self.is_cut |= is_full;
    }
}

/// Whether a file of this name is likely to be a snapshot.
fn is_snapshot_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let ends_in = |name: &str, endings: &[&str]| {
        name.rsplit_once('.').filter(|(_, ending)| endings.contains(ending)).map(|(stem, _)| stem.len())
    };
    let plain = ends_in(&name, &COMPRESSED).map_or(&*name, |stem| &name[..stem]);
    !name.starts_with('.') && ends_in(plain, &SNAPSHOTS).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_snapshots_are_known_compressed_or_not() {
        for name in
            ["a.pickle", "rank0_memory_snapshot.pickle", "b.PKL", "c.pickle.gz", "d.html.zst", "e.pkl.xz"]
        {
            assert!(is_snapshot_name(name), "{name}");
        }
        for name in ["a.json", "weights.gz", ".hidden.pickle", "pickle", "a.pickle.txt"] {
            assert!(!is_snapshot_name(name), "{name}");
        }
    }

    #[test]
    fn a_listing_has_snapshots_and_directories_by_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["b.pickle", "a.pickle.gz", "notes.txt", ".hidden.pickle"] {
            std::fs::write(folder.path().join(name), b"12345").expect("a temporary file");
        }
        for name in ["iteration_10", ".git", "odd.pickle"] {
            std::fs::create_dir(folder.path().join(name)).expect("a temporary folder");
        }
        let listing = FolderListing::of(folder.path()).expect("it can be read");
        let names: Vec<_> = listing.files.iter().filter_map(|file| file.path.file_name()).collect();
        assert_eq!(names, ["a.pickle.gz", "b.pickle"]);
        assert_eq!(listing.files[0].stamp.bytes(), 5);
        assert_eq!(listing.folders, ["iteration_10", "odd.pickle"].map(|name| folder.path().join(name)));
        assert!(!listing.is_cut);
        assert!(FolderListing::of(&folder.path().join("nowhere")).is_err());
    }
}
