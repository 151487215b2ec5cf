//! Progress of a load and the request to stop it, shared between threads.

use super::max_memory;
use crate::{Preview, Seen};
use oomscope_pickle::Bound;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Progress of one load. Clones share the same state.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    read_bytes: AtomicU64,
    total_bytes: AtomicU64,
    preview: Arc<Preview>,
    is_building: AtomicBool,
    is_cancelled: AtomicBool,
    has_more_behind: AtomicBool,
    /// 0 where the load has no bound of its own.
    max_memory: AtomicU64,
}

impl Progress {
    /// One that shows segments and curves while they are decoded. Others count events only.
    pub fn with_preview() -> Self {
        let shared = Shared { preview: Arc::new(Preview::of_all()), ..Shared::default() };
        Self { shared: Arc::new(shared) }
    }

    /// Bytes of the file that were read so far (before decompression).
    pub fn read_bytes(&self) -> u64 {
        self.shared.read_bytes.load(Ordering::Relaxed)
    }

    /// Size of the file in bytes; `None` where it is not known (standard input).
    pub fn total_bytes(&self) -> Option<u64> {
        Some(self.shared.total_bytes.load(Ordering::Relaxed)).filter(|&total| total != 0)
    }

    /// Events decoded so far.
    pub fn events(&self) -> u64 {
        self.shared.preview.events()
    }

    /// What was seen of the snapshot so far; `None` if only events are counted.
    pub fn seen(&self) -> Option<Seen> {
        self.shared.preview.seen()
    }

    /// Whether everything is read and the model is being put together.
    pub fn is_building(&self) -> bool {
        self.shared.is_building.load(Ordering::Relaxed)
    }

    /// The share of the file that was read, from 0 to 1; `None` where the size is not known.
    pub fn fraction(&self) -> Option<f32> {
        self.total_bytes().map(|total| (self.read_bytes() as f64 / total as f64).min(1.0) as f32)
    }

    /// Ask the load to stop. It ends with [`LoadError::Cancelled`](super::LoadError::Cancelled).
    pub fn cancel(&self) {
        self.shared.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the load was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.shared.is_cancelled.load(Ordering::Relaxed)
    }

    /// Let the load take this much memory, in bytes, instead of what others may.
    pub fn allow_memory(&self, bytes: u64) {
        self.shared.max_memory.store(bytes, Ordering::Relaxed);
    }

    /// What an input may take of which so many bytes were read.
    pub(super) fn bound(&self, stored: u64) -> Bound {
        max_memory::bound(stored, self.shared.max_memory.load(Ordering::Relaxed))
    }

    pub(super) fn set_total_bytes(&self, total: u64) {
        self.shared.total_bytes.store(total, Ordering::Relaxed);
    }

    /// All bytes up to here were read.
    pub(super) fn set_read_bytes(&self, bytes: u64) {
        self.shared.read_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Whether there is something behind the compressed data, which is left out.
    pub fn has_more_behind(&self) -> bool {
        self.shared.has_more_behind.load(Ordering::Relaxed)
    }

    pub(super) fn set_has_more_behind(&self) {
        self.shared.has_more_behind.store(true, Ordering::Relaxed);
    }

    pub(super) fn set_building(&self) {
        self.shared.is_building.store(true, Ordering::Relaxed);
    }

    pub(super) fn preview(&self) -> Arc<Preview> {
        Arc::clone(&self.shared.preview)
    }
}

/// A reader that counts the bytes that pass through it.
pub(super) struct CountingReader<R> {
    inner: R,
    progress: Progress,
}

impl<R> CountingReader<R> {
    pub(super) fn new(inner: R, progress: &Progress) -> Self {
        Self { inner, progress: progress.clone() }
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.progress.shared.read_bytes.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}
