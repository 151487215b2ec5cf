//! Unwraps the pickle or the JSON from its container, which the first bytes of the file identify.

use super::decompress::{InSteps, Xz, Zstd, is_gzip, is_xz, is_zstd};
use super::error::ContainerError;
use super::html;
use super::parts::Parts;
use super::progress::Progress;
use super::utf8::Utf8;
use flate2::bufread::GzDecoder;
use std::io::{BufReader, Cursor, Read};

/// Endings of names of compressed files, without the dot.
pub(super) const COMPRESSED: [&str; 3] = ["gz", "zst", "xz"];

/// Endings of names of snapshots, without that of a compression.
pub(super) const SNAPSHOTS: [&str; 3] = ["pickle", "pkl", "html"];

/// Endings of names of files that open, those of compressions first.
pub fn endings() -> impl Iterator<Item = &'static str> {
    COMPRESSED.into_iter().chain(SNAPSHOTS)
}

/// Bytes at the start of a file that decide what it is. Six are enough for binary formats; pages and JSON may
/// begin with white space, so more are read.
const MAGIC_BYTES: usize = 512;

/// Bytes of the buffer in front of a decompressor: large, so that it asks the file seldom.
const BUFFER_BYTES: usize = 1 << 20;

/// A reader of the pickle or the JSON inside `raw`.
pub(super) fn open<'a>(
    raw: impl Read + Send + 'a,
    progress: &Progress,
) -> Result<Box<dyn Read + Send + 'a>, ContainerError> {
    let mut raw = Utf8::new(raw);
    let mut head = Vec::with_capacity(MAGIC_BYTES);
    raw.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut head)?;
    let container = Container::of(&head)?;
    let all = Cursor::new(head).chain(raw);
    Ok(match container {
        Container::Plain => Box::new(all),
        Container::Gzip => {
            Box::new(Utf8::new(InSteps(Parts::<_, GzDecoder<_>>::new(buffered(all), progress)?)))
        }
        Container::Zstd => Box::new(Utf8::new(InSteps(Parts::<_, Zstd<_>>::new(buffered(all), progress)?))),
        Container::Xz => Box::new(Utf8::new(Parts::<_, Xz<_>>::new(buffered(all), progress)?)),
        Container::Html => html::open(all)?,
    })
}

fn buffered<R: Read>(reader: R) -> BufReader<R> {
    BufReader::with_capacity(BUFFER_BYTES, reader)
}

/// The container of a pickle or of JSON.
#[derive(Debug, PartialEq, Eq)]
enum Container {
    /// None: a pickle or JSON.
    Plain,
    Gzip,
    Zstd,
    Xz,
    Html,
}

impl Container {
    /// The container that a file with these first bytes has.
    fn of(head: &[u8]) -> Result<Self, ContainerError> {
        let foreign = |found| Err(ContainerError::Foreign(found));
        match head {
            [] => Err(ContainerError::Empty),
            _ if is_gzip(head) => Ok(Self::Gzip),
            _ if is_zstd(head) => Ok(Self::Zstd),
            _ if is_xz(head) => Ok(Self::Xz),
            [b'P', b'K', 3 | 5, ..] => foreign("a zip archive (torch.save writes those)"),
            [b'B', b'Z', b'h', ..] => foreign("a bzip2 file; decompress it first"),
            [b'\x89', b'P', b'N', b'G', ..] => foreign("a picture"),
            [0x7f, b'E', b'L', b'F', ..] => foreign("a program"),
            _ => match head.trim_ascii_start() {
                [b'<', ..] => Ok(Self::Html),
                _ => Ok(Self::Plain),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_differ_in_their_first_bytes() {
        let container = |head: &[u8]| Container::of(head).ok();
        assert_eq!(container(b"\x80\x04\x95"), Some(Container::Plain));
        assert_eq!(container(b"(dp0\nS'segments'"), Some(Container::Plain));
        assert_eq!(container(b"\x1f\x8b\x08"), Some(Container::Gzip));
        assert_eq!(container(b"\n<!DOCTYPE html>"), Some(Container::Html));
        assert_eq!(container(b"PK\x03\x04"), None);
        assert_eq!(container(b"{\"segments\": []}"), Some(Container::Plain));
        assert_eq!(container(b""), None);
    }
}
