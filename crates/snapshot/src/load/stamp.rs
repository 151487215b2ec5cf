//! Tells whether a file on disk is still the version that was loaded.

use std::path::Path;
use std::time::SystemTime;

/// Length and time of last change of a file. Two versions that were written at the same time and are
/// equally long look the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileStamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl FileStamp {
    /// The stamp of a file as it is now; `None` where there is no file, or it may not be looked at.
    /// May block for as long as the file system does.
    pub fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        metadata.is_file().then(|| Self { bytes: metadata.len(), modified: metadata.modified().ok() })
    }

    /// Length of the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Time of the last change, in microseconds since 1970; `None` where the system does not tell.
    pub fn modified_us(&self) -> Option<i64> {
        let since = self.modified?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        i64::try_from(since.as_micros()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_grows_has_another_stamp_and_a_missing_one_has_none() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("run.pickle");
        assert_eq!(FileStamp::of(&path), None);
        std::fs::write(&path, b"one").expect("a temporary file");
        let first = FileStamp::of(&path);
        assert!(first.is_some() && first == FileStamp::of(&path));
        std::fs::write(&path, b"longer").expect("a temporary file");
        assert_ne!(FileStamp::of(&path), first);
        assert_eq!(FileStamp::of(folder.path()), None);
    }
}
