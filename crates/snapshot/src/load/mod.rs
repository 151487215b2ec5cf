//! From a path to a model: reads, decompresses and decodes, with progress and cancellation.
//!
//! A load takes two threads: one reads and decompresses, the other decodes. A large plain pickle takes all of them
//! (`in_pieces.rs`). The input is read piece by piece, never mapped: a file that is truncated or rewritten while it is open gives a partial result, not a crash.
//!
//! This module knows files and threads. It knows no windows and prints nothing.

mod assumed;
mod container;
mod decompress;
mod error;
mod file_chunks;
mod fill;
mod folder;
mod html;
mod in_pieces;
#[cfg(test)]
mod in_pieces_tests;
mod job;
mod many;
mod max_memory;
mod notes_file;
mod parts;
mod pipe;
mod progress;
mod regular_file;
mod rules_file;
mod stamp;
mod utf8;

pub use crate::{Outline, Seen, SeenSegments};
pub use assumed::{assume, assumed};
pub use container::endings;
pub use error::LoadError;
pub use error::panic_text;
pub use folder::{FolderEntry, FolderListing};
pub use job::{LoadJob, LoadOutcome};
pub use many::{ManyProgress, load_each};
pub use max_memory::set_max_memory;
pub use notes_file::{NOTES_SUFFIX, fixes_beside, notes_beside, other_notes_beside, read_text};
pub use progress::Progress;
pub use regular_file::{MAX_RULES_BYTES, open_regular, read_small, text_of};
pub use rules_file::{RULES_FILE, rules_nearby};
pub use stamp::FileStamp;
pub use utf8::Utf8;

use crate::Builder;
use oomscope_model::{OpenIssue, Snapshot};
use oomscope_pickle::{DecodeError, Decoded, ErrorKind};
use std::fs::File;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Where a snapshot comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Input {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// A file that is a part of the program.
    Bundled {
        /// The file's name.
        name: &'static str,
        /// Its contents.
        bytes: &'static [u8],
    },
}

impl Input {
    /// The input that a command-line argument names; `-` is standard input.
    pub fn from_arg(arg: &Path) -> Self {
        if arg == Path::new("-") { Self::Stdin } else { Self::File(arg.to_owned()) }
    }

    /// The name to show.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Stdin => "standard input".to_owned(),
            Self::Bundled { name, .. } => (*name).to_owned(),
        }
    }

    /// The path, if it is a file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Stdin | Self::Bundled { .. } => None,
        }
    }

    fn open(&self, progress: &Progress) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Self::Stdin => Ok(Box::new(io::stdin())),
            Self::Bundled { bytes, .. } => {
                progress.set_total_bytes(bytes.len() as u64);
                Ok(Box::new(*bytes))
            }
            Self::File(path) => {
                let is_dir = || io::Error::new(io::ErrorKind::IsADirectory, "is a directory");
                // Some systems refuse to open a directory for another reason.
                let file = File::open(path).map_err(|error| if path.is_dir() { is_dir() } else { error })?;
                let metadata = file.metadata()?;
                if metadata.is_dir() {
                    return Err(is_dir());
                }
                progress.set_total_bytes(metadata.len());
                Ok(Box::new(file))
            }
        }
    }
}

/// Load a snapshot. Blocks until it is loaded, fails, or `progress` is told to cancel.
///
/// # Errors
/// When the input cannot be read, is no pickle, holds no snapshot, or wants to run code. Damage
/// after the first usable part is no error: see [`Snapshot::damage`].
pub fn load(input: &Input, progress: &Progress) -> Result<Snapshot, LoadError> {
    let failed = |source| LoadError::Read { input: input.name(), source };
    if let Some(snapshot) = load_in_pieces(input, progress)? {
        return Ok(snapshot);
    }
    let raw = input.open(progress).map_err(failed)?;
    load_from(raw, &input.name(), progress)
}

/// Load a large file with all threads. `None` if it must be decoded as a whole.
fn load_in_pieces(input: &Input, progress: &Progress) -> Result<Option<Snapshot>, LoadError> {
    let Some((file, bytes)) = input.path().and_then(in_pieces::open_if_suitable) else { return Ok(None) };
    let (start, name) = (Instant::now(), input.name());
    progress.set_total_bytes(bytes);
    let mut builder = Builder::new(progress.preview(), Some(bytes));
    let decode = AssertUnwindSafe(|| in_pieces::decode(&file, &mut builder, bytes, progress));
    match catch_unwind(decode).map_err(|panic| LoadError::of_panic(&name, &*panic))? {
        Ok(decoded) => finish(builder, decoded, &name, progress, start).map(Some),
        Err(DecodeError { kind: ErrorKind::NotAlone, .. }) => {
            log::debug!("{name}: a piece was guessed wrong; decoded again as a whole");
            Ok(None)
        }
        Err(source) => Err(LoadError::of_decoding(&name, source)),
    }
}

/// Load a snapshot from any reader; `name` is what messages call it.
///
/// # Errors
/// As [`load`].
pub fn load_from(raw: impl Read + Send, name: &str, progress: &Progress) -> Result<Snapshot, LoadError> {
    let start = Instant::now();
    let counted = progress::CountingReader::new(raw, progress);
    let reader = container::open(counted, progress).map_err(|error| error.into_load_error(name))?;
    let (builder, decoded) =
        pipe::decode(reader, Builder::new(progress.preview(), progress.total_bytes()), name, progress)?;
    finish(builder, decoded, name, progress, start)
}

fn finish(
    builder: Builder,
    decoded: Decoded,
    name: &str,
    progress: &Progress,
    start: Instant,
) -> Result<Snapshot, LoadError> {
    log::debug!("{name}: decoded {} bytes after {:?}", decoded.read_bytes, start.elapsed());
    if progress.is_cancelled() {
        return Err(LoadError::Cancelled { input: name.to_owned() });
    }
    progress.set_building();
    let built = catch_unwind(AssertUnwindSafe(|| builder.finish(decoded)));
    let built = built.map_err(|panic| LoadError::of_panic(name, &*panic))?;
    let mut snapshot = built.map_err(|source| LoadError::NoSnapshot { input: name.to_owned(), source })?;
    if progress.has_more_behind() {
        let what = "bytes behind the compressed data, which are left out".to_owned();
        snapshot.issues.push(OpenIssue { what, count: 1 });
    }
    snapshot.assumed = assumed();
    log::debug!("{name}: loaded after {:?}", start.elapsed());
    Ok(snapshot)
}
