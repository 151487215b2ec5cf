//! The files that the window remembers: when each was opened last, and what it is at a glance.

use super::glance::Glance;
use oomscope_snapshot::load::FileStamp;
use serde::{Deserialize, Deserializer, Serialize};
use std::path::{Path, PathBuf};

/// Recent files that are offered: as many as a menu shows without scrolling.
pub(super) const MAX_RECENT: usize = 10;

/// Files whose glance is kept: some folders of ranks, at less than a KiB each.
const MAX_FILES: usize = 400;

/// A file and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KnownFile {
    path: PathBuf,
    /// The time at which it was opened last, in microseconds since 1970, if it is a recent file.
    #[serde(default)]
    opened_us: Option<u64>,
    #[serde(default, deserialize_with = "if_it_fits")]
    seen: Option<Seen>,
}

/// What an earlier version of the program kept in another form is as if it had not been kept: files are looked at again.
fn if_it_fits<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Seen>, D::Error> {
    Ok(Seen::deserialize(serde_json::Value::deserialize(from)?).ok())
}

/// A version of a file at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    bytes: u64,
    modified_us: i64,
    glance: Glance,
}

/// Something to remember.
#[derive(Debug, Clone)]
pub(super) enum Change {
    /// A file was opened at a time.
    Opened { path: PathBuf, at_us: u64 },
    /// A version of a file was looked at.
    Seen { path: PathBuf, stamp: FileStamp, glance: Glance },
    /// Recent files of an earlier version of the program, the latest first.
    Import(Vec<PathBuf>),
    /// No file is a recent one any more.
    ForgetRecent,
}

/// All files, those that were changed last first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct KnownFiles {
    files: Vec<KnownFile>,
}

impl KnownFiles {
    /// What is sound of files that someone may have written by hand.
    pub(super) fn sound(mut self) -> Self {
        self.files.truncate(MAX_FILES);
        for file in &mut self.files {
            file.seen = file.seen.take().filter(|seen| seen.glance.is_sound());
        }
        self
    }

    /// The recent files, the latest first.
    pub(super) fn recent(&self) -> Vec<PathBuf> {
        let mut opened: Vec<_> =
            self.files.iter().filter_map(|file| Some((file.opened_us?, &file.path))).collect();
        opened.sort_by_key(|(at_us, _)| std::cmp::Reverse(*at_us));
        opened.into_iter().take(MAX_RECENT).map(|(_, path)| path.clone()).collect()
    }

    /// The version and the glance of each file that was looked at.
    pub(super) fn seen(&self) -> impl Iterator<Item = (&Path, (u64, i64), &Glance)> {
        self.files.iter().filter_map(|file| {
            let seen = file.seen.as_ref()?;
            Some((file.path.as_path(), (seen.bytes, seen.modified_us), &seen.glance))
        })
    }

    pub(super) fn apply(&mut self, change: Change) {
        match change {
            Change::Opened { path, at_us } => {
                self.file(&path, |file| file.opened_us = file.opened_us.max(Some(at_us)));
            }
            Change::Seen { path, stamp, glance } => {
                // Without a time, another version could look the same.
                if let Some((bytes, modified_us)) = version(stamp) {
                    self.file(&path, |file| file.seen = Some(Seen { bytes, modified_us, glance }));
                }
            }
            Change::Import(paths) => {
                for (at, path) in paths.iter().rev().enumerate() {
                    // Before everything that was opened since.
                    self.file(path, |file| file.opened_us = file.opened_us.or(Some(at as u64)));
                }
            }
            Change::ForgetRecent => self.files.iter_mut().for_each(|file| file.opened_us = None),
        }
        self.trim();
    }

    /// Change a file and bring it to the front.
    fn file(&mut self, path: &Path, change: impl FnOnce(&mut KnownFile)) {
        // The files are stored as text, and a path that is none would spoil all of them.
        if path.to_str().is_none() {
            return;
        }
        let at = self.files.iter().position(|file| file.path == path);
        let new = || KnownFile { path: path.to_owned(), opened_us: None, seen: None };
        let mut file = at.map_or_else(new, |at| self.files.remove(at));
        change(&mut file);
        self.files.insert(0, file);
    }

    /// Keep the recent files and those that changed last.
    fn trim(&mut self) {
        let recent = self.recent();
        for file in &mut self.files {
            file.opened_us = file.opened_us.filter(|_| recent.contains(&file.path));
        }
        let mut places_left = MAX_FILES.saturating_sub(recent.len());
        self.files.retain(|file| {
            let is_recent = file.opened_us.is_some();
            let is_kept = is_recent || (file.seen.is_some() && 0 < places_left);
            places_left -= usize::from(is_kept && !is_recent);
            is_kept
        });
    }
}

/// The parts of a stamp that can be stored.
pub(super) fn version(stamp: FileStamp) -> Option<(u64, i64)> {
    Some((stamp.bytes(), stamp.modified_us()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_diagnosis::Severity;
    use oomscope_draw::SparkLine;
    use oomscope_model::{Bytes, Trust, TrustedBytes};

    fn opened(name: &str, at_us: u64) -> Change {
        Change::Opened { path: PathBuf::from(format!("/runs/{name}.pickle")), at_us }
    }

    fn names(known: &KnownFiles) -> Vec<String> {
        let stem = |path: PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        known.recent().into_iter().map(stem).collect()
    }

    fn seen(path: &Path, stamp: FileStamp) -> Change {
        let glance = Glance {
            spark: SparkLine::default(),
            title: "Out of memory".to_owned(),
            severity: Severity::Critical,
            peak: TrustedBytes::new(Bytes(7), Trust::Known),
            device: None,
        };
        Change::Seen { path: path.to_owned(), stamp, glance }
    }

    #[test]
    fn the_latest_comes_first_each_file_once_and_ten_at_most() {
        let mut known = KnownFiles::default();
        (0..15).for_each(|i| known.apply(opened(&i.to_string(), 100 + i)));
        known.apply(opened("9", 200));
        assert_eq!(names(&known).len(), MAX_RECENT);
        assert_eq!(names(&known)[..3], ["9", "14", "13"]);
        assert_eq!(known.files.len(), MAX_RECENT, "files of which nothing is known are not kept");
    }

    #[test]
    fn changes_of_two_windows_add_up() {
        let mut known = KnownFiles::default();
        known.apply(opened("later", 9));
        known.apply(opened("before", 5));
        assert_eq!(names(&known), ["later", "before"]);
        known.apply(Change::Import(vec![PathBuf::from("/runs/a.pickle"), PathBuf::from("/runs/b.pickle")]));
        assert_eq!(names(&known), ["later", "before", "a", "b"]);
        known.apply(Change::ForgetRecent);
        assert!(names(&known).is_empty());
    }

    #[test]
    fn glances_outlive_the_list_of_recent_files_and_are_bounded() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.pickle");
        std::fs::write(&path, b"12345").expect("a temporary file");
        let stamp = FileStamp::of(&path).expect("it is there");
        let mut known = KnownFiles::default();
        known.apply(seen(&path, stamp));
        known.apply(opened("other", 1));
        known.apply(Change::ForgetRecent);
        let all: Vec<_> = known.seen().collect();
        assert_eq!((all.len(), all[0].0, Some(all[0].1)), (1, path.as_path(), version(stamp)));
        (0..MAX_FILES + 5).for_each(|i| known.apply(seen(Path::new(&format!("/runs/{i}")), stamp)));
        assert_eq!(known.seen().count(), MAX_FILES);
        assert_eq!(known.seen().next().map(|(path, ..)| path.to_owned()), Some(PathBuf::from("/runs/404")));
    }

    #[test]
    fn glances_of_an_earlier_version_are_made_again() {
        let text = r#"[{"path": "/a", "opened_us": 5, "seen": {"bytes": 1, "modified_us": 2, "glance": {"title": "x",
            "spark": {"columns": [], "ooms": []}, "severity": "Info", "peak_bytes": 1}}}]"#;
        let known: KnownFiles = serde_json::from_str(text).expect("the list itself is as before");
        assert_eq!((known.recent().len(), known.seen().count()), (1, 0));
    }

    #[test]
    fn what_strangers_wrote_is_not_shown() {
        let text = r#"[{"path": "/a", "seen": {"bytes": 1, "modified_us": 2, "glance": {"title": "x",
            "spark": {"columns": [1, 2], "ooms": [9]}, "severity": "Info", "peak": {"recorded": 1, "trust": "Known"}}}}]"#;
        let known: KnownFiles = serde_json::from_str(text).expect("it has the right fields");
        assert_eq!(known.seen().count(), 1);
        assert_eq!(known.sound().seen().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn paths_that_are_no_text_are_not_remembered() {
        use std::os::unix::ffi::OsStrExt as _;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/runs/\xff.pickle")).to_owned();
        let mut known = KnownFiles::default();
        known.apply(Change::Opened { path, at_us: 1 });
        assert!(known.recent().is_empty());
    }
}
