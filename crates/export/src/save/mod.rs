//! Files that are written whole or not at all.
//!
//! Output goes to a temporary file beside the target, which then takes the target's place. A full disk, a crash
//! or an error leaves the target as it was. A target is never a file that was read.

mod unfinished;

pub use unfinished::{Unfinished, abandon};

use same_file::Handle;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;
use thiserror::Error;

/// Why a file was not written. A file that was there before is unchanged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The target is one of the files that are read.
    #[error("{} is the file that is read, so it is not written", .path.display())]
    IsInput {
        /// The target.
        path: PathBuf,
    },
    /// The target may not be replaced, or its folder not be written.
    #[error("cannot write {}: {source}", .path.display())]
    Refused {
        /// The target.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// Whether a file that is there may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is replaced.
    Replace,
    /// It stays, and writing fails.
    Keep,
}

/// A file that is being written. Dropped without [`NewFile::finish`], it leaves no trace.
#[derive(Debug)]
pub struct NewFile {
    out: BufWriter<Output>,
    target: PathBuf,
}

#[derive(Debug)]
enum Output {
    Temporary {
        file: NamedTempFile,
        unfinished: Unfinished,
    },
    /// A device or a pipe. Replacing it by a file would break it, so it is written directly.
    Special(fs::File),
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Temporary { file, .. } => file.write(bytes),
            Self::Special(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Temporary { file, .. } => file.flush(),
            Self::Special(file) => file.flush(),
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Refuse a target that is one of the `inputs`, or what standard input comes from, whatever name it goes by (links, `./`).
///
/// # Errors
/// [`SaveError::IsInput`].
pub fn refuse_inputs<'a>(target: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), SaveError> {
    // A file that is not there is not the same as another. Files are opened to compare them, which waits for ever at a
    // named pipe.
    let is_file = |path: &Path| fs::metadata(path).is_ok_and(|found| found.is_file());
    let is_target = |input: &Path| {
        is_file(input) && is_file(target) && same_file::is_same_file(target, input).unwrap_or(false)
    };
    let is_stdin = || {
        let handles = Handle::stdin().and_then(|stdin| Ok([stdin, Handle::from_path(target)?]));
        is_file(target) && handles.is_ok_and(|[stdin, target]| stdin == target)
    };
    if inputs.into_iter().any(is_target) || is_stdin() {
        return Err(SaveError::IsInput { path: target.to_owned() });
    }
    Ok(())
}

impl NewFile {
    /// Begin to write a file. Links are followed, and a file that is replaced keeps its permissions.
    ///
    /// # Errors
    /// [`SaveError::Refused`] when the folder cannot be written, or the target is a folder or protected.
    pub fn create(target: &Path) -> Result<Self, SaveError> {
        let refused = |source| SaveError::Refused { path: target.to_owned(), source };
        let place = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        let out = match fs::metadata(&place) {
            Ok(found) if found.is_dir() => {
                return Err(refused(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")));
            }
            Ok(found) if !found.is_file() => {
                Output::Special(OpenOptions::new().write(true).open(&place).map_err(refused)?)
            }
            Ok(found) if found.permissions().readonly() => {
                return Err(refused(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    "it is write-protected",
                )));
            }
            found => {
                let (file, unfinished) = temporary(&place).map_err(refused)?;
                if let Ok(found) = found {
                    file.as_file().set_permissions(found.permissions()).map_err(refused)?;
                }
                Output::Temporary { file, unfinished }
            }
        };
        Ok(Self { out: BufWriter::new(out), target: place })
    }

    /// Put the file, which is now complete, where it belongs.
    ///
    /// # Errors
    /// [`SaveError::Refused`] when something cannot be written, or a file is there that is to be kept.
    pub fn finish(self, existing: Existing) -> Result<(), SaveError> {
        let Self { out, target } = self;
        let put = || -> io::Result<()> {
            match out.into_inner().map_err(io::IntoInnerError::into_error)? {
                Output::Special(mut file) => file.flush(),
                Output::Temporary { file, unfinished } => {
                    // A system that crashes after the rename could otherwise keep the name and lose the content.
                    file.as_file().sync_all()?;
                    match existing {
                        Existing::Replace => file.persist(&target)?,
                        Existing::Keep => file.persist_noclobber(&target)?,
                    };
                    drop(unfinished);
                    Ok(())
                }
            }
        };
        put().map_err(|source| SaveError::Refused { path: target.clone(), source })
    }
}

/// The names of temporary files.
const TEMPORARY: [&str; 2] = [".oomscope-", ".tmp"];

/// Entries of a folder that are looked at for what was left behind, at most.
const MAX_SWEPT: usize = 1_000;

/// What is left behind is at least this old. A younger one may not be locked yet.
const LEFT_BEHIND: Duration = Duration::from_mins(1);

/// Remove temporary files of processes that could not do so themselves: killed, or without power. Those of living ones are locked.
fn sweep(folder: &Path) {
    let [prefix, suffix] = TEMPORARY;
    let is_temporary = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with(prefix) && name.ends_with(suffix)
    };
    let is_left_behind = |path: &Path| -> io::Result<bool> {
        let metadata = fs::symlink_metadata(path)?;
        let is_old = metadata.modified()?.elapsed().is_ok_and(|age| LEFT_BEHIND <= age);
        // Where locks are not supported, everything stays.
        Ok(metadata.is_file() && is_old && fs::File::open(path)?.try_lock().is_ok())
    };
    let entries = fs::read_dir(folder).into_iter().flatten().take(MAX_SWEPT).flatten();
    for path in entries.filter(is_temporary).map(|entry| entry.path()) {
        if is_left_behind(&path).unwrap_or(false) {
            fs::remove_file(&path).ok();
        }
    }
}

/// A new file in the target's folder, with the permissions that any new file gets.
fn temporary(target: &Path) -> io::Result<(NamedTempFile, Unfinished)> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    sweep(folder);
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY[0]).suffix(TEMPORARY[1]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The process's umask takes away from this, as for any file that is created.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let (file, unfinished) = Unfinished::make(|| builder.tempfile_in(folder), |file| file.path().to_owned())?;
    // Only to be told from what was left behind.
    file.as_file().try_lock().ok();
    Ok((file, unfinished))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let target = folder.path().join("out.txt");
        (folder, target)
    }

    fn save(target: &Path, text: &str, existing: Existing) -> Result<(), SaveError> {
        let mut file = NewFile::create(target)?;
        file.write_all(text.as_bytes()).expect("a temporary file can be written");
        file.finish(existing)
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("the folder is there").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_file_takes_its_place_only_when_it_is_complete() {
        let (folder, target) = folder();
        save(&target, "old", Existing::Replace).expect("a new file");
        let mut half = NewFile::create(&target).expect("the folder can be written");
        half.write_all(b"ne").expect("a temporary file can be written");
        half.flush().expect("a temporary file can be written");
        drop(half);
        assert_eq!(fs::read_to_string(&target).expect("the file"), "old");
        save(&target, "new", Existing::Replace).expect("the file can be replaced");
        assert_eq!(fs::read_to_string(&target).expect("the file"), "new");
        assert_eq!(names(folder.path()), ["out.txt"]);
    }

    #[test]
    fn a_file_that_is_to_be_kept_is_kept() {
        let (folder, target) = folder();
        save(&target, "old", Existing::Keep).expect("a new file");
        assert!(save(&target, "new", Existing::Keep).is_err());
        assert_eq!(fs::read_to_string(&target).expect("the file"), "old");
        assert_eq!(names(folder.path()), ["out.txt"]);
    }

    #[test]
    fn what_a_killed_process_left_behind_goes_and_what_is_being_written_stays() {
        let (folder, target) = folder();
        let minutes_ago = std::time::SystemTime::now() - 2 * LEFT_BEHIND;
        let being_written = NewFile::create(&target).expect("the folder can be written");
        for entry in fs::read_dir(folder.path()).expect("the folder").flatten() {
            let file = OpenOptions::new().write(true).open(entry.path()).expect("a temporary file");
            file.set_modified(minutes_ago).expect("a time");
        }
        for (name, changed) in [
            (".oomscope-left.tmp", minutes_ago),
            (".oomscope-young.tmp", std::time::SystemTime::now()),
            ("mine.tmp", minutes_ago),
        ] {
            let file = fs::File::create(folder.path().join(name)).expect("a temporary file");
            file.set_modified(changed).expect("a time");
        }
        save(&folder.path().join("another"), "", Existing::Replace).expect("a new file");
        being_written.finish(Existing::Replace).expect("it is still there");
        let mut found = names(folder.path());
        found.sort();
        assert_eq!(found, [".oomscope-young.tmp", "another", "mine.tmp", "out.txt"]);
    }

    #[test]
    fn an_input_is_recognised_under_any_name() {
        let (folder, target) = folder();
        fs::write(&target, "input").expect("a temporary file");
        let elsewhere = folder.path().join(".").join("other.txt");
        fs::hard_link(&target, &elsewhere).expect("a link");
        let inputs = [Path::new("no such file"), &target];
        assert!(matches!(refuse_inputs(&elsewhere, inputs), Err(SaveError::IsInput { .. })));
        assert!(refuse_inputs(&folder.path().join("third.txt"), inputs).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let (folder, target) = folder();
        fs::write(&target, "old").expect("a temporary file");
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).expect("its owner may");
        let link = folder.path().join("link");
        symlink(&target, &link).expect("a link");
        save(&link, "new", Existing::Replace).expect("the file can be replaced");
        assert!(fs::symlink_metadata(&link).expect("the link").is_symlink());
        assert_eq!(fs::read_to_string(&target).expect("the file"), "new");
        let mode = |path: &Path| fs::metadata(path).expect("the file").permissions().mode() & 0o777;
        assert_eq!(mode(&target), 0o640);
        // As a file that is simply created.
        let (new, plain) = (folder.path().join("new"), folder.path().join("plain"));
        save(&new, "", Existing::Replace).expect("a new file");
        fs::write(&plain, "").expect("a temporary file");
        assert_eq!(mode(&new), mode(&plain));
    }

    #[cfg(unix)]
    #[test]
    fn protected_files_folders_and_devices_are_not_replaced() {
        let (folder, target) = folder();
        fs::write(&target, "old").expect("a temporary file");
        let mut permissions = fs::metadata(&target).expect("the file").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&target, permissions).expect("its owner may");
        let error = save(&target, "new", Existing::Replace).expect_err("it is protected").to_string();
        assert!(error.contains("out.txt") && error.contains("write-protected"), "{error}");
        assert!(NewFile::create(folder.path()).is_err());
        save(Path::new("/dev/null"), "gone", Existing::Replace).expect("a device can be written");
        assert!(!fs::metadata("/dev/null").expect("the device").is_file());
    }
}
