//! Files beside a recording: their names, and reading their text.

use super::utf8::Utf8;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// What the name of a file of notes adds to that of its recording.
pub const NOTES_SUFFIX: &str = ".oomscope.toml";

/// The file of notes beside a recording: `run.pickle.oomscope.toml`.
pub fn notes_beside(recording: &Path) -> PathBuf {
    with_suffix(recording, NOTES_SUFFIX)
}

/// The file of notes where the first one must stay as it is.
pub fn other_notes_beside(recording: &Path) -> PathBuf {
    with_suffix(recording, ".2.oomscope.toml")
}

/// The file of what fixes promise beside a recording: `run.pickle.fixes.json`.
pub fn fixes_beside(recording: &Path) -> PathBuf {
    with_suffix(recording, ".fixes.json")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The text of a small file, or its first `max_bytes` and some; `None` if there is no such file. Pipes and devices, which
/// may never end, are not read.
///
/// # Errors
/// When it cannot be read, or is no text.
pub fn read_text(path: &Path, max_bytes: usize) -> io::Result<Option<String>> {
    let is_file = match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?.is_file(),
    };
    if !is_file {
        return Err(io::Error::other("it is no file"));
    }
    let mut bytes = Vec::new();
    // A few more, so that a text that is too long stays too long, wherever a character ends.
    Utf8::new(File::open(path)?).take(max_bytes as u64 + 8).read_to_end(&mut bytes)?;
    if max_bytes < bytes.len() {
        return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
    }
    String::from_utf8(bytes).map(Some).map_err(|source| io::Error::new(io::ErrorKind::InvalidData, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_text_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = notes_beside(&folder.path().join("run.pickle"));
        assert_eq!(path.file_name().and_then(|name| name.to_str()), Some("run.pickle.oomscope.toml"));
        assert_eq!(read_text(&path, 10).expect("no file is no error"), None);
        std::fs::write(&path, "short").expect("a temporary file");
        assert_eq!(read_text(&path, 10).expect("text").as_deref(), Some("short"));
        std::fs::write(&path, "y".repeat(1000)).expect("a temporary file");
        assert_eq!(read_text(&path, 10).expect("text").map(|text| text.len()), Some(18));
        std::fs::write(&path, [0xc3, 0x28]).expect("a temporary file");
        assert!(read_text(&path, 10).is_err());
        assert!(read_text(folder.path(), 10).is_err());
    }
}
