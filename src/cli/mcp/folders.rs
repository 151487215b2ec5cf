//! The folders whose files may be read.

use super::refusal::Refusal;
use crate::cli::failure::Failure;
use oomscope_snapshot::load::{FileStamp, FolderListing};
use std::path::{Path, PathBuf};

/// The folders of the command line, without symbolic links. Nothing outside of them is read, listed or said to exist.
#[derive(Debug)]
pub(super) struct Folders {
    folders: Vec<PathBuf>,
}

impl Folders {
    /// The folders that the user allows.
    pub(super) fn new(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut folders = Vec::new();
        for path in paths {
            let found = path.canonicalize().map_err(|error| {
                Failure::new(format_args!("cannot read {}: {error}", path.display()), "name existing folders")
            })?;
            if !found.is_dir() {
                return Err(Failure::new(
                    format_args!("{} is no folder", path.display()),
                    "name the folder with the snapshots",
                ));
            }
            folders.push(found);
        }
        Ok(Self { folders })
    }

    /// The allowed folders.
    pub(super) fn all(&self) -> &[PathBuf] {
        &self.folders
    }

    /// A file as a client names it, without symbolic links. A relative path is looked for in each folder.
    pub(super) fn file(&self, asked: &str) -> Result<PathBuf, Refusal> {
        let path = self.inside(asked)?;
        // A pipe or a device would never end, or end the wait for it.
        if FileStamp::of(&path).is_some() { Ok(path) } else { Err(self.missing(asked, "is no file")) }
    }

    /// A folder as a client names it.
    pub(super) fn folder(&self, asked: &str) -> Result<PathBuf, Refusal> {
        let path = self.inside(asked)?;
        if path.is_dir() { Ok(path) } else { Err(self.missing(asked, "is no folder")) }
    }

    /// Whether a path leads into an allowed folder, by symbolic links or not.
    pub(super) fn allow(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|found| self.contains(&found))
    }

    /// The snapshots of an allowed folder, without those that lead outside; and how many these are.
    pub(super) fn listing(&self, folder: &Path) -> Result<(FolderListing, usize), Refusal> {
        let mut listing = FolderListing::of(folder).map_err(|error| {
            self.missing(&folder.display().to_string(), &format!("cannot be read: {error}"))
        })?;
        let found = listing.files.len() + listing.folders.len();
        listing.files.retain(|entry| self.allow(&entry.path));
        listing.folders.retain(|path| self.allow(path));
        let left_out = found - listing.files.len() - listing.folders.len();
        Ok((listing, left_out))
    }

    /// The place that a path leads to, which must be in one of the folders.
    fn inside(&self, asked: &str) -> Result<PathBuf, Refusal> {
        let candidates = || self.folders.iter().map(|folder| folder.join(asked));
        let found = candidates().filter_map(|path| path.canonicalize().ok()).find(|path| self.contains(path));
        found.ok_or_else(|| {
            // Outside of the folders, a file that is there and one that is not are refused in the same words.
            let is_inside = |path: PathBuf| path.parent().is_some_and(|parent| self.allow(parent));
            let leads_out = |path: &PathBuf| path.symlink_metadata().is_ok();
            if candidates().any(|path| !leads_out(&path) && is_inside(path)) {
                self.missing(asked, "is not there")
            } else {
                Refusal::Outside { path: asked.to_owned(), allowed: self.folders.clone() }
            }
        })
    }

    /// A path as clients may name it: from its folder, if that is the only one that has such a path.
    pub(super) fn name<'p>(&self, path: &'p Path) -> &'p Path {
        let folder = self.folders.iter().find(|folder| path.starts_with(folder));
        let Some(short) = folder.and_then(|folder| path.strip_prefix(folder).ok()) else { return path };
        let is_first = self.inside(&short.to_string_lossy()).is_ok_and(|found| found == path);
        if is_first && !short.as_os_str().is_empty() { short } else { path }
    }

    fn contains(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| path.starts_with(folder))
    }

    fn missing(&self, asked: &str, why: &str) -> Refusal {
        Refusal::Missing { path: asked.to_owned(), why: why.to_owned(), allowed: self.folders.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_outside(found: &Result<PathBuf, Refusal>) -> bool {
        matches!(found, Err(Refusal::Outside { .. }))
    }

    #[test]
    fn only_what_is_inside_is_found_by_any_name() {
        let around = tempfile::tempdir().expect("a temporary folder");
        let inner = around.path().join("runs");
        std::fs::create_dir_all(inner.join("deep")).expect("a temporary folder");
        std::fs::create_dir(around.path().join("runs2")).expect("a temporary folder");
        for name in ["secret.pickle", "runs2/b.pickle", "runs/a.pickle", "runs/deep/c.pickle"] {
            std::fs::write(around.path().join(name), b"x").expect("a temporary file");
        }
        let folders = Folders::new(std::slice::from_ref(&inner)).expect("a folder");
        for name in ["a.pickle", "deep/c.pickle", "deep/../a.pickle", "./a.pickle"] {
            assert!(folders.file(name).is_ok(), "{name}");
        }
        assert!(folders.file(&inner.join("a.pickle").display().to_string()).is_ok());
        let hostile =
            ["../secret.pickle", "../runs2/b.pickle", "/etc/passwd", "/nowhere/x.pickle", "../none.pickle"];
        for name in hostile {
            assert!(is_outside(&folders.file(name)), "{name}: {:?}", folders.file(name));
        }
        for name in ["none.pickle", "deep", "", "a.pickle/b", "-"] {
            let found = folders.file(name);
            assert!(
                matches!(found, Err(Refusal::Missing { .. } | Refusal::Outside { .. })),
                "{name}: {found:?}"
            );
        }
        assert!(matches!(folders.file("a\0b"), Err(Refusal::Missing { .. })));
        assert!(folders.folder("deep").is_ok() && folders.folder("a.pickle").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_outside_are_refused_and_not_listed() {
        use std::os::unix::fs::symlink;
        let around = tempfile::tempdir().expect("a temporary folder");
        let inner = around.path().join("runs");
        std::fs::create_dir(&inner).expect("a temporary folder");
        std::fs::write(around.path().join("secret.pickle"), b"x").expect("a temporary file");
        std::fs::write(inner.join("a.pickle"), b"x").expect("a temporary file");
        symlink("a.pickle", inner.join("inside.pickle")).expect("a link");
        symlink("../secret.pickle", inner.join("outside.pickle")).expect("a link");
        symlink("../gone.pickle", inner.join("dangling.pickle")).expect("a link");
        symlink("..", inner.join("up")).expect("a link");
        let folders = Folders::new(std::slice::from_ref(&inner)).expect("a folder");
        assert!(folders.file("inside.pickle").is_ok());
        for name in ["outside.pickle", "dangling.pickle", "up/secret.pickle", "up/none.pickle"] {
            assert!(is_outside(&folders.file(name)), "{name}: {:?}", folders.file(name));
        }
        assert!(is_outside(&folders.folder("up")));
        let (listing, left_out) = folders.listing(&folders.all()[0]).expect("it can be read");
        let names: Vec<_> = listing.files.iter().filter_map(|file| file.path.file_name()).collect();
        assert_eq!(names, ["a.pickle", "inside.pickle"]);
        assert_eq!((listing.folders.len(), left_out), (0, 2));
    }
}
