//! Several files, a few at a time: each is reduced to what is wanted of it before it makes room for the next.

use super::{FileStamp, Input, LoadError, Progress, load};
use oomscope_model::Snapshot;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Files that are loaded together: their models are in memory meanwhile.
const FILES_AT_ONCE: usize = 2;

/// Bytes of the files that are loaded together; a larger file is loaded alone. Models take about a quarter of their file.
const BYTES_AT_ONCE: u64 = 4 << 30;

/// How far the files are, shared between threads.
#[derive(Debug, Default)]
pub struct ManyProgress {
    done: AtomicUsize,
    running: Mutex<Vec<Progress>>,
    is_cancelled: std::sync::atomic::AtomicBool,
}

impl ManyProgress {
    /// Number of files that are done.
    pub fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    /// Stop: loads that have begun end as cancelled, and no others begin.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        lock(&self.running).iter().for_each(Progress::cancel);
    }

    /// Whether it was told to stop.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    fn begin(&self) -> Progress {
        let progress = Progress::default();
        lock(&self.running).push(progress.clone());
        // It may have been cancelled before it was in the list.
        if self.is_cancelled() {
            progress.cancel();
        }
        progress
    }
}

/// Load files and reduce each to a value, on a few threads. The values are in the order of the files; after a
/// cancellation, those of files that were not begun are missing.
pub fn load_each<T: Send>(
    inputs: &[Input],
    progress: &ManyProgress,
    reduce: impl Fn(&Input, Result<Snapshot, LoadError>) -> T + Sync,
) -> Vec<Option<T>> {
    let next = AtomicUsize::new(0);
    let room = Room::default();
    let found: Mutex<Vec<Option<T>>> = Mutex::new(inputs.iter().map(|_| None).collect());
    thread::scope(|scope| {
        for _ in 0..FILES_AT_ONCE.min(inputs.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(input) = inputs.get(at).filter(|_| !progress.is_cancelled()) else { break };
                    let value = reduce_one(input, progress, &room, &reduce);
                    lock(&found)[at] = value;
                    progress.done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn reduce_one<T>(
    input: &Input,
    progress: &ManyProgress,
    room: &Room,
    reduce: &impl Fn(&Input, Result<Snapshot, LoadError>) -> T,
) -> Option<T> {
    let bytes = input.path().and_then(FileStamp::of).map_or(0, |stamp| stamp.bytes());
    let _taken = room.take(bytes);
    let of_file = progress.begin();
    // A defect must not end the thread: other files wait for it.
    let value = catch_unwind(AssertUnwindSafe(|| reduce(input, load(input, &of_file))));
    value
        .or_else(|panic| {
            let error = LoadError::of_panic(&input.name(), &*panic);
            catch_unwind(AssertUnwindSafe(|| reduce(input, Err(error))))
        })
        .ok()
}

/// Room for the files that are in memory.
#[derive(Default)]
struct Room {
    taken_bytes: Mutex<u64>,
    has_room: Condvar,
}

/// Room that a file takes until this is dropped.
struct Taken<'a> {
    room: &'a Room,
    bytes: u64,
}

impl Room {
    /// Wait until a file fits, or is alone.
    fn take(&self, bytes: u64) -> Taken<'_> {
        let is_full = |taken: &mut u64| 0 < *taken && BYTES_AT_ONCE < taken.saturating_add(bytes);
        let mut taken = self
            .has_room
            .wait_while(lock(&self.taken_bytes), is_full)
            .unwrap_or_else(PoisonError::into_inner);
        *taken = taken.saturating_add(bytes);
        Taken { room: self, bytes }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut taken = lock(&self.room.taken_bytes);
        *taken = taken.saturating_sub(self.bytes);
        self.room.has_room.notify_all();
    }
}

/// What is behind a lock, also after a panic: nothing is left half written.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(names: &[&str]) -> Vec<Input> {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample_snapshots");
        names.iter().map(|name| Input::File(folder.join(name))).collect()
    }

    #[test]
    fn values_are_in_the_order_of_files_and_failures_among_them() {
        let inputs = samples(&["frag_oom.pickle", "none.pickle", "two_devices_oom.pickle", "README.md"]);
        let progress = ManyProgress::default();
        let devices = |_: &Input, loaded: Result<Snapshot, LoadError>| loaded.map(|s| s.timelines.len()).ok();
        let found = load_each(&inputs, &progress, devices);
        assert_eq!(found, [Some(Some(1)), Some(None), Some(Some(2)), Some(None)]);
        assert_eq!(progress.done(), 4);
    }

    #[test]
    fn a_panic_is_an_error_of_its_file_alone() {
        let inputs = samples(&["frag_oom.pickle", "two_devices_oom.pickle"]);
        let found = load_each(&inputs, &ManyProgress::default(), |_, loaded| match loaded {
            Ok(snapshot) if snapshot.timelines.len() == 1 => panic!("a defect"),
            Ok(_) => "read".to_owned(),
            Err(error) => error.to_string(),
        });
        assert!(found[0].as_ref().is_some_and(|text| text.contains("a defect")), "{found:?}");
        assert_eq!(found[1].as_deref(), Some("read"));
    }

    #[test]
    fn nothing_begins_after_a_cancellation() {
        let inputs = samples(&["frag_oom.pickle"; 9]);
        let progress = ManyProgress::default();
        let found = load_each(&inputs, &progress, |_, loaded| {
            progress.cancel();
            loaded.is_ok()
        });
        assert!(found.iter().flatten().count() <= FILES_AT_ONCE, "{found:?}");
    }

    #[test]
    fn a_large_file_waits_until_it_is_alone() {
        let room = Room::default();
        let small = room.take(1);
        thread::scope(|scope| {
            let large = scope.spawn(|| drop(room.take(BYTES_AT_ONCE)));
            assert_eq!(*lock(&room.taken_bytes), 1);
            drop(small);
            large.join().expect("the large file had its turn");
        });
        assert_eq!(*lock(&room.taken_bytes), 0);
    }
}
