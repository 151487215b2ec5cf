//! Where text goes: standard output, a file, standard error.

use super::Failure;
use crate::save::{self, Existing, NewFile, SaveError};
use crate::units;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// What `--format` means for a command that writes for people or for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum TextOrJson {
    Text,
    Json,
}

/// Standard output, buffered. Flush it: a failed write must become an exit code.
pub(super) fn stdout() -> BufWriter<io::StdoutLock<'static>> {
    BufWriter::new(io::stdout().lock())
}

/// Where a command writes: a file, which is replaced once all of it is written, or standard output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    path: Option<&'a Path>,
}

impl<'a> Target<'a> {
    /// What `--output` means: no path, or `-`, is standard output. Asked before the recording and the rules
    /// are read, which are never overwritten.
    pub(super) fn new(path: Option<&'a Path>, file: &Path, rules: Option<&Path>) -> Result<Self, Failure> {
        let path = path.filter(|path| *path != Path::new("-"));
        if let Some(path) = path {
            save::refuse_inputs(path, rules.into_iter().chain([file]))?;
        }
        Ok(Self { path })
    }

    /// Write all there is to write.
    pub(super) fn write(
        self,
        contents: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Some(path) = self.path else {
            let mut out = stdout();
            contents(&mut out)?;
            return Ok(out.flush()?);
        };
        let mut file = NewFile::create(path)?;
        contents(&mut file)?;
        Ok(file.finish(Existing::Replace)?)
    }
}

impl From<SaveError> for Failure {
    fn from(error: SaveError) -> Self {
        let hint = match &error {
            SaveError::IsInput { .. } => "name another file",
            _ => "check the folder, its permissions and the space on the disk",
        };
        Self::new(error, hint)
    }
}

/// One line on standard error, and what to try below it.
pub(super) fn error(message: &str, hint: &str) {
    let mut stderr = io::stderr().lock();
    let text = format!("oomscope: {}\n  hint: {hint}\n", units::printable(message));
    // Nobody is left to tell if this fails.
    stderr.write_all(text.as_bytes()).ok();
}

/// One line on standard error that is no failure.
pub(super) fn notice(message: &str) {
    let text = format!("oomscope: {}\n", units::printable(message));
    io::stderr().lock().write_all(text.as_bytes()).ok();
}
