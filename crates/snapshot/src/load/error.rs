//! Reasons why a file cannot be loaded, each with something to try.

use super::max_memory;
use crate::SnapshotError;
use oomscope_pickle::{DecodeError, ErrorKind};
use std::any::Any;
use std::borrow::Cow;
use std::io;
use thiserror::Error;

/// Memory to allow, in bytes, where an input expands out of proportion and takes little memory so far.
const MEMORY_OF_EXPANDED_BYTES: u64 = 4 << 30;

/// Why a file could not be loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The input could not be opened or read.
    #[error("cannot read {input}: {source}")]
    Read {
        /// The input's name.
        input: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The input is empty.
    #[error("{input} is empty")]
    Empty {
        /// The input's name.
        input: String,
    },
    /// The input is something else that can be recognised.
    #[error("{input}: expected a pickled memory snapshot, found {found}")]
    Foreign {
        /// The input's name.
        input: String,
        /// The thing that it is, in a few words.
        found: &'static str,
    },
    /// The pickle cannot be decoded.
    #[error("{input}: {source}")]
    Decode {
        /// The input's name.
        input: String,
        /// The error and its place.
        source: DecodeError,
    },
    /// The pickle holds no snapshot.
    #[error("{input}: {source}")]
    NoSnapshot {
        /// The input's name.
        input: String,
        /// The thing that it holds instead.
        source: SnapshotError,
    },
    /// The caller asked to stop.
    #[error("loading {input} was cancelled")]
    Cancelled {
        /// The input's name.
        input: String,
    },
    /// A defect of oomscope.
    #[error("{input}: internal error: {message}")]
    Internal {
        /// The input's name.
        input: String,
        /// The panic's message.
        message: String,
    },
}

impl LoadError {
    /// True if the input is a directory.
    pub fn is_directory(&self) -> bool {
        matches!(self, Self::Read { source, .. } if source.kind() == io::ErrorKind::IsADirectory)
    }

    /// The error that a failure to decode `input` becomes.
    pub(super) fn of_decoding(input: &str, source: DecodeError) -> Self {
        match source.kind {
            ErrorKind::Cancelled => Self::Cancelled { input: input.to_owned() },
            _ => Self::Decode { input: input.to_owned(), source },
        }
    }

    /// The error that a panic while loading `input` becomes.
    pub(super) fn of_panic(input: &str, panic: &(dyn Any + Send)) -> Self {
        Self::Internal { input: input.to_owned(), message: panic_text(panic) }
    }

    /// Something that the user can try, in one sentence.
    pub fn hint(&self) -> Cow<'static, str> {
        match self.more_memory() {
            Some(bytes) => {
                let argument = max_memory::argument(bytes);
                Cow::Owned(format!("if you trust where it comes from, allow more: --max-memory {argument}"))
            }
            None => Cow::Borrowed(self.constant_hint()),
        }
    }

    /// The memory to allow, in bytes, if the input met the bound of memory or expands too far: twice as much. `None` for
    /// other errors.
    pub fn more_memory(&self) -> Option<u64> {
        let Self::Decode { source, .. } = self else { return None };
        match source.kind {
            ErrorKind::Memory { limit, found, .. } => Some(max_memory::more_than(limit.max(found))),
            ErrorKind::Expansion { .. } => Some(MEMORY_OF_EXPANDED_BYTES),
            _ => None,
        }
    }

    fn constant_hint(&self) -> &'static str {
        const RECORD: &str = "record one with torch.cuda.memory._record_memory_history() and write it with \
                              torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")";
        match self {
            Self::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => "check the path",
            Self::Read { .. } if self.is_directory() => {
                "name the snapshot files inside the directory; the window lists them: oomscope DIRECTORY"
            }
            Self::Read { .. } => "check that the file can be read and is not compressed in another format",
            Self::Empty { .. } => {
                "the process that wrote it probably died before _dump_snapshot finished; write it again"
            }
            Self::Foreign { .. } => RECORD,
            Self::Decode { source, .. } => match source.kind {
                ErrorKind::Forbidden(_) => {
                    "a memory snapshot holds only plain data; this file is another pickle or has been tampered with"
                }
                ErrorKind::Protocol(_) => "write it again with pickle protocol 5 or lower",
                _ => RECORD,
            },
            Self::NoSnapshot { source, .. } => match source {
                SnapshotError::NothingUsable { .. } => {
                    "check that the file was copied completely and is a memory snapshot"
                }
                _ => RECORD,
            },
            Self::Cancelled { .. } => "open it again to load it",
            Self::Internal { .. } => "please report this together with the file",
        }
    }
}

/// Why the pickle inside a file cannot be reached. It becomes a [`LoadError`] where the input's name is known.
pub(super) enum ContainerError {
    Io(io::Error),
    Empty,
    /// The file is something else, named in a few words.
    Foreign(&'static str),
}

impl ContainerError {
    pub(super) fn into_load_error(self, name: &str) -> LoadError {
        let input = name.to_owned();
        match self {
            Self::Io(source) => LoadError::Read { input, source },
            Self::Empty => LoadError::Empty { input },
            Self::Foreign(found) => LoadError::Foreign { input, found },
        }
    }
}

impl From<io::Error> for ContainerError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What a panic says.
pub fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "unknown panic".to_owned())
}
