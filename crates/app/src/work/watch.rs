//! How far long work is, and whether anybody still waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Shared by the window and a thread that works.
#[derive(Debug, Default)]
pub(super) struct Watched {
    /// The number of the request that counts.
    current: AtomicU64,
    done: AtomicUsize,
    /// 0 while it is not known.
    total: AtomicUsize,
}

/// One request's view of that.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    watched: Arc<Watched>,
    /// The number of this request.
    number: u64,
}

impl Watched {
    /// The work that is going on is not wanted any more.
    pub(super) fn supersede(&self) {
        self.current.fetch_add(1, Ordering::Relaxed);
        self.total.store(0, Ordering::Relaxed);
    }

    pub(super) fn progress(&self) -> Option<(usize, usize)> {
        let total = self.total.load(Ordering::Relaxed);
        (total != 0).then(|| (self.done.load(Ordering::Relaxed).min(total), total))
    }
}

impl Watch {
    pub(super) fn new(watched: &Arc<Watched>) -> Self {
        Self { number: watched.current.load(Ordering::Relaxed), watched: Arc::clone(watched) }
    }

    /// Whether the answer is still waited for.
    pub(crate) fn is_wanted(&self) -> bool {
        self.watched.current.load(Ordering::Relaxed) == self.number
    }

    /// Say how much is done, and of how much.
    pub(crate) fn progress(&self, done: usize, total: usize) {
        if self.is_wanted() {
            self.watched.done.store(done, Ordering::Relaxed);
            self.watched.total.store(total, Ordering::Relaxed);
        }
    }
}
