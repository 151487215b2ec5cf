//! The files that windows remember: each has a small file of its own in the settings folder, so that windows of several processes
//! do not write over each other, and nothing is lost when one is killed.

use super::glance::Glance;
use crate::paths::own_name;
use oomscope_export::save::{Existing, NewFile, SaveError};
use serde::{Deserialize, Deserializer, Serialize};
use std::cmp::Reverse;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Recent files that are offered: as many as a menu shows without scrolling.
pub(super) const MAX_RECENT: usize = 10;

/// Files that are remembered from one start to the next: some folders of ranks.
const MAX_FILES: usize = 400;

/// Most files that are looked at for that.
const MAX_READ: usize = 10 * MAX_FILES;

/// Most bytes of a file that are read: many times what is ever written.
const MAX_BYTES: u64 = 64 << 10;

/// What is remembered of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptFile {
    pub(super) path: PathBuf,
    /// The time at which it was opened last, in microseconds since 1970, if it is a recent file.
    #[serde(default)]
    pub(super) opened_us: Option<u64>,
    #[serde(default, deserialize_with = "if_it_fits")]
    pub(super) seen: Option<Seen>,
}

/// A version of a file at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen {
    pub(super) bytes: u64,
    pub(super) modified_us: i64,
    pub(super) glance: Glance,
    /// What the user said about all recordings then, as text.
    #[serde(default)]
    pub(super) assumed: String,
}

/// What another version of the program kept in another form is as if it had not been kept: files are looked at again.
fn if_it_fits<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Seen>, D::Error> {
    Ok(Seen::deserialize(serde_json::Value::deserialize(from)?).ok())
}

/// Something to remember.
#[derive(Debug, Clone)]
pub(super) enum Change {
    /// A file was opened at a time.
    Opened { path: PathBuf, at_us: u64 },
    /// A version of a file was looked at.
    Seen { path: PathBuf, seen: Seen },
    /// No file is a recent one any more.
    ForgetRecent,
}

/// The folder of what is remembered; `None` if nothing is stored.
#[derive(Debug, Clone)]
pub(super) struct KeptFiles(pub(super) Option<PathBuf>);

impl KeptFiles {
    /// All files. What is too old is removed.
    pub(super) fn all(&self) -> Vec<KeptFile> {
        let entries = self.0.as_ref().and_then(|folder| fs::read_dir(folder).ok());
        let stored = entries.into_iter().flatten().take(MAX_READ).flatten();
        let mut all: Vec<(SystemTime, PathBuf, KeptFile)> = stored
            .filter_map(|entry| {
                let changed = entry.metadata().and_then(|metadata| metadata.modified()).ok()?;
                Some((changed, entry.path(), read(&entry.path())?))
            })
            .collect();
        // Recent files first: looking at a large folder does not make them old.
        all.sort_by_key(|(.., file)| Reverse(file.opened_us));
        let opened = all.iter().take(MAX_RECENT).filter(|(.., file)| file.opened_us.is_some()).count();
        all[opened..].sort_by_key(|(changed, ..)| Reverse(*changed));
        for (_, place, _) in all.drain(MAX_FILES.min(all.len())..) {
            fs::remove_file(place).ok();
        }
        all.into_iter().map(|(.., file)| file).collect()
    }

    /// Store a change at once. Returns what is known of the file now.
    pub(super) fn keep(&self, change: Change) -> Option<KeptFile> {
        match change {
            Change::Opened { path, at_us } => {
                Some(self.change(&path, |file| file.opened_us = file.opened_us.max(Some(at_us))))
            }
            Change::Seen { path, seen } => Some(self.change(&path, |file| file.seen = Some(seen))),
            Change::ForgetRecent => {
                for file in self.all().iter().filter(|file| file.opened_us.is_some()) {
                    self.change(&file.path, |file| file.opened_us = None);
                }
                None
            }
        }
    }

    fn change(&self, path: &Path, change: impl FnOnce(&mut KeptFile)) -> KeptFile {
        // The path is the file's own, whatever name it was opened by.
        let path = canonical(path);
        let place = self.0.as_ref().map(|folder| folder.join(format!("{}.json", own_name(&path))));
        let stored = place.as_deref().and_then(read).filter(|stored| stored.path == path);
        let mut file = stored.unwrap_or(KeptFile { path, opened_us: None, seen: None });
        change(&mut file);
        if let Some(place) = place {
            write(&place, &file).inspect_err(|error| log::warn!("a recent file is not kept: {error}")).ok();
        }
        file
    }
}

/// The path without links and dots. Windows has a spelling for it that nobody wants to read.
pub(crate) fn canonical(path: &Path) -> PathBuf {
    let found = if cfg!(windows) { None } else { fs::canonicalize(path).ok() };
    found.or_else(|| std::path::absolute(path).ok()).unwrap_or_else(|| path.to_owned())
}

/// What is stored in a place, as far as it is sound: anybody may have written it.
fn read(place: &Path) -> Option<KeptFile> {
    let mut bytes = Vec::new();
    File::open(place).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let file = serde_json::from_slice::<KeptFile>(&bytes);
    let mut file = file.inspect_err(|error| log::warn!("{}: {error}", place.display())).ok()?;
    file.seen = file.seen.filter(|seen| seen.glance.is_sound());
    Some(file)
}

fn write(place: &Path, file: &KeptFile) -> Result<(), SaveError> {
    let refused = |source: io::Error| SaveError::Refused { path: place.to_owned(), source };
    let text = serde_json::to_vec(file).map_err(|error| refused(error.into()))?;
    place.parent().map_or(Ok(()), fs::create_dir_all).map_err(refused)?;
    let mut new = NewFile::create(place)?;
    new.write_all(&text).map_err(refused)?;
    new.finish(Existing::Replace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::glances::glance::{Scan, scan};
    use crate::tests::sample;
    use oomscope_snapshot::load::{Input, Progress};

    fn opened(path: impl Into<PathBuf>, at_us: u64) -> Change {
        Change::Opened { path: path.into(), at_us }
    }

    fn seen(bytes: u64) -> Seen {
        let sample = Input::File(sample("compact.pickle.gz"));
        let Some(Scan::Found(glance)) = scan(&sample, &Progress::default()) else { panic!("a sample") };
        let glance = glance.as_ref().clone();
        Seen { bytes, modified_us: 5, glance, assumed: String::new() }
    }

    fn in_a_folder() -> (tempfile::TempDir, KeptFiles) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let files = KeptFiles(Some(folder.path().join("files")));
        (folder, files)
    }

    #[test]
    fn what_two_windows_keep_adds_up() {
        let (_folder, one) = in_a_folder();
        let other = one.clone();
        one.keep(opened("/runs/a.pickle", 3));
        other.keep(opened("/runs/b.pickle", 2));
        other.keep(Change::Seen { path: "/runs/a.pickle".into(), seen: seen(1) });
        // An old name of the same moment does not make it older.
        let last = one.keep(opened("/runs/a.pickle", 1)).expect("a file");
        assert_eq!((last.opened_us, last.seen), (Some(3), Some(seen(1))));
        let all = one.all();
        let known: Vec<_> = all.iter().map(|file| (file.path.to_str(), file.opened_us)).collect();
        assert_eq!(known, [(Some("/runs/a.pickle"), Some(3)), (Some("/runs/b.pickle"), Some(2))]);
        other.keep(Change::ForgetRecent);
        assert!(one.all().iter().all(|file| file.opened_us.is_none()));
        assert_eq!(one.all().iter().filter(|file| file.seen.is_some()).count(), 1, "glances outlive that");
    }

    #[test]
    fn as_many_files_are_kept_as_are_useful_and_recent_ones_before_others() {
        let (_folder, files) = in_a_folder();
        files.keep(opened("/runs/recent.pickle", 1));
        let seen = seen(1);
        for at in 0..MAX_FILES + 5 {
            files.keep(Change::Seen { path: format!("/runs/{at}").into(), seen: seen.clone() });
        }
        let all = files.all();
        assert_eq!(all.len(), MAX_FILES);
        assert_eq!(all[0].path, Path::new("/runs/recent.pickle"));
        let stored = fs::read_dir(files.0.as_ref().expect("a folder")).expect("it is there");
        assert_eq!(stored.count(), MAX_FILES, "others are gone from the disk");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_spelled_in_three_ways_is_one() {
        let (folder, files) = in_a_folder();
        let place = fs::canonicalize(folder.path()).expect("it is there");
        let path = place.join("run.pickle");
        fs::create_dir(place.join("sub")).expect("a temporary folder");
        fs::write(&path, b"x").expect("a temporary file");
        std::os::unix::fs::symlink(&path, place.join("link.pickle")).expect("a link");
        for (at, name) in ["run.pickle", "sub/../run.pickle", "link.pickle"].iter().enumerate() {
            files.keep(opened(place.join(name), at as u64));
        }
        assert_eq!(files.all(), [KeptFile { path, opened_us: Some(2), seen: None }]);
    }

    #[test]
    fn what_strangers_wrote_is_not_shown_and_is_replaced() {
        let (_folder, files) = in_a_folder();
        files.keep(opened("/runs/a.pickle", 1));
        let place = fs::read_dir(files.0.as_ref().expect("a folder")).expect("it is there").next();
        let place = place.expect("a file").expect("a file").path();
        let glance = r#"{"title": "x", "severity": "Info", "spark": {"columns": [1, 2], "ooms": [9]},
            "peak": {"recorded": 1, "trust": "Known"}}"#;
        for (text, expected) in [
            ("{\"odd\": 1}".to_owned(), 0),
            // Of an earlier version, and with a curve that cannot be drawn.
            (r#"{"path": "/runs/a.pickle", "seen": {"bytes": 1, "glance": 2}}"#.to_owned(), 1),
            (
                format!(
                    r#"{{"path": "/runs/a.pickle", "seen": {{"bytes": 1, "modified_us": 2, "glance": {glance}}}}}"#
                ),
                1,
            ),
        ] {
            fs::write(&place, &text).expect("it can be written");
            let all = files.all();
            assert_eq!(all.len(), expected, "{text}");
            assert!(all.iter().all(|file| file.seen.is_none()), "{text}");
        }
        assert_eq!(files.keep(opened("/runs/a.pickle", 9)).and_then(|file| file.opened_us), Some(9));
        assert_eq!(files.all().len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn paths_that_are_no_text_are_not_stored() {
        use std::os::unix::ffi::OsStrExt as _;
        let (_folder, files) = in_a_folder();
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/runs/\xff.pickle")).to_owned();
        files.keep(opened(path, 1));
        assert!(files.all().is_empty());
    }
}
