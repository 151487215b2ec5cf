//! Destinations of output: standard output or a file.

use super::failure::Failure;
use oomscope_export::save;
use oomscope_export::save::{Existing, NewFile};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// `--format` of commands that write for people or for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum TextOrJson {
    Text,
    Json,
}

/// `--format` of documents, which are for people, tickets, browsers or programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum DocumentFormat {
    Text,
    Markdown,
    Html,
    Json,
}

/// Standard output, buffered. The caller must flush it, so that a failed write becomes an exit code.
pub(super) fn stdout() -> BufWriter<io::StdoutLock<'static>> {
    BufWriter::new(io::stdout().lock())
}

/// The destination of a command's output: a file, which is replaced once all of it is written, or standard
/// output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Destination<'a> {
    path: Option<&'a Path>,
}

impl<'a> Destination<'a> {
    /// Standard output.
    pub(super) const STDOUT: Self = Self { path: None };

    /// The destination that `--output` names: no path, or `-`, is standard output. Inputs are never
    /// overwritten.
    pub(super) fn new<'i>(
        path: Option<&'a Path>,
        inputs: impl IntoIterator<Item = &'i Path>,
    ) -> Result<Self, Failure> {
        let path = path.filter(|path| *path != Path::new("-"));
        if let Some(path) = path {
            save::refuse_inputs(path, inputs)?;
        }
        Ok(Self { path })
    }

    /// Write the whole output. An existing file is replaced only if `contents` succeeds.
    pub(super) fn write(
        self,
        contents: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut out = self.open()?;
        contents(&mut out)?;
        out.finish()
    }

    /// Begin to write. An existing file is replaced only by [`Output::finish`].
    pub(super) fn open(self) -> Result<Output, Failure> {
        match self.path {
            None => Ok(Output::Stdout(BufWriter::new(io::stdout()))),
            Some(path) => Ok(Output::File(NewFile::create(path)?)),
        }
    }
}

/// An output that is being written.
#[derive(Debug)]
pub(super) enum Output {
    Stdout(BufWriter<io::Stdout>),
    File(NewFile),
}

impl Output {
    /// Write what is left, and put a file where it belongs.
    pub(super) fn finish(self) -> Result<(), Failure> {
        match self {
            Self::Stdout(mut out) => Ok(out.flush()?),
            Self::File(file) => Ok(file.finish(Existing::Replace)?),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(file) => file.flush(),
        }
    }
}
