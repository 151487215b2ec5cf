//! Reading on one thread, decoding on another.

use super::fill::fill;
use super::{LoadError, Progress};
use crate::Builder;
use crate::json;
use oomscope_pickle as pickle;
use oomscope_pickle::{Bound, Chunk, ChunkSource, DecodeError, Decoded, ErrorKind};
use std::io::{self, Cursor, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Bytes per piece. Large enough that handing over costs nothing, small enough to stay in cache.
const CHUNK_BYTES: usize = 256 * 1024;

/// Pieces that may wait between the threads: enough to bridge a slow read, few enough to stay in cache.
const CHUNKS_AHEAD: usize = 3;

/// Bytes of the input that tell JSON from a pickle; white space may come first.
const HEAD_BYTES: usize = 512;

/// Read on this thread and decode on another one into `builder`.
pub(super) fn decode(
    mut reader: impl Read,
    mut builder: Builder,
    name: &str,
    progress: &Progress,
) -> Result<(Builder, Decoded), LoadError> {
    let expected_bytes = progress.total_bytes();
    let mut head = vec![0; HEAD_BYTES];
    let found = fill(&mut head, |rest, _| reader.read(rest));
    head.truncate(*found.as_ref().unwrap_or(&0));
    let is_json = json::is_json(&head);
    let all = Cursor::new(head).chain(Failure(found.err())).chain(reader);
    read_for(all, name, progress, move |chunks| {
        let decoded = if is_json {
            json::decode(chunks, &mut builder)
        } else {
            pickle::decode(chunks, &mut builder, expected_bytes)
        };
        decoded.map(|decoded| (builder, decoded))
    })
}

/// Read on this thread for `decode`, which runs on another one.
fn read_for<T: Send>(
    mut reader: impl Read,
    name: &str,
    progress: &Progress,
    decode: impl FnOnce(Chunks) -> Result<T, DecodeError> + Send,
) -> Result<T, LoadError> {
    let (full_tx, full_rx) = sync_channel(CHUNKS_AHEAD);
    // Room for those that wait, the one being decoded and the one being filled, so that each is used again.
    let (spent_tx, spent_rx) = sync_channel(CHUNKS_AHEAD + 2);
    let chunks = Chunks { full: full_rx, spent: spent_tx, progress: progress.clone() };
    let outcome = thread::scope(|scope| {
        let decoder = thread::Builder::new()
            .name("oomscope-decode".to_owned())
            .spawn_scoped(scope, move || decode(chunks))
            .map_err(|source| LoadError::Read { input: name.to_owned(), source })?;
        read_all(&mut reader, &full_tx, &spent_rx, progress);
        drop(full_tx);
        decoder.join().map_err(|panic| LoadError::of_panic(name, &*panic))
    })?;
    outcome.map_err(|source| LoadError::of_decoding(name, source))
}

/// Send the input piece by piece until it ends, fails, or nobody listens.
fn read_all(
    reader: &mut impl Read,
    full: &SyncSender<io::Result<Chunk>>,
    spent: &Receiver<Chunk>,
    progress: &Progress,
) {
    // The first piece of a small file need not be a large allocation.
    let mut room = progress.total_bytes().map_or(CHUNK_BYTES, |total| CHUNK_BYTES.min(total as usize + 1));
    while !progress.is_cancelled() {
        let mut chunk = spent.try_recv().unwrap_or_else(|_| Chunk::with_capacity(room));
        room = CHUNK_BYTES;
        let filled = chunk.fill(|buf| fill(buf, |rest, _| reader.read(rest)));
        let piece = match filled {
            Ok(0) => return,
            Ok(_) => Ok(chunk),
            Err(error) => Err(error),
        };
        let failed = piece.is_err();
        if full.send(piece).is_err() || failed {
            return;
        }
    }
}

/// A place at which reading fails, if it did there before.
struct Failure(Option<io::Error>);

impl Read for Failure {
    fn read(&mut self, _buf: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// The decoder's end of the channel.
struct Chunks {
    full: Receiver<io::Result<Chunk>>,
    spent: SyncSender<Chunk>,
    progress: Progress,
}

impl ChunkSource for Chunks {
    fn next_chunk(&mut self, spent: Option<Chunk>) -> Result<Option<Chunk>, ErrorKind> {
        if let Some(chunk) = spent {
            // Nobody may want it back any more.
            self.spent.try_send(chunk).ok();
        }
        let next = self.full.recv();
        if self.progress.is_cancelled() {
            return Err(ErrorKind::Cancelled);
        }
        match next {
            Ok(chunk) => Ok(Some(chunk?)),
            Err(_closed) => Ok(None),
        }
    }

    fn bound(&self) -> Option<Bound> {
        Some(self.progress.bound(self.progress.read_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_in_decoding_is_an_internal_error() {
        // More than the channel holds: the reader must notice that nobody listens, and not wait for ever.
        let input = io::repeat(0).take(8 * CHUNK_BYTES as u64);
        let outcome = read_for(input, "a.pickle", &Progress::default(), |mut chunks| -> Result<(), _> {
            chunks.next_chunk(None).expect("zeros");
            panic!("a defect")
        });
        let Err(LoadError::Internal { input, message }) = outcome else { panic!("{outcome:?}") };
        assert_eq!((input.as_str(), message.as_str()), ("a.pickle", "a defect"));
    }
}
