//! The snapshots that were loaded last, so that further questions about them are answered at once.

use super::refusal::Refusal;
use oomscope_model::Snapshot;
use oomscope_snapshot::load::{FileStamp, Input, LoadError, ManyProgress, load_each};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Snapshots that are kept: both sides of a comparison.
const MAX_KEPT: usize = 2;

/// The snapshots that were loaded last, the latest at the end. There is room made before another is loaded, so that
/// no more are ever in memory.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    kept: Vec<Kept>,
}

#[derive(Debug)]
struct Kept {
    path: PathBuf,
    /// The version of the file: one that is written anew is loaded anew.
    stamp: Option<FileStamp>,
    snapshot: Arc<Snapshot>,
}

impl Shelf {
    /// A snapshot, loaded if it is not there. Ends early if `progress` is cancelled.
    pub(super) fn get(&mut self, path: &Path, progress: &ManyProgress) -> Result<Arc<Snapshot>, Refusal> {
        let stamp = FileStamp::of(path);
        let found = self.kept.iter().position(|kept| kept.path == path && kept.stamp == stamp);
        let kept = if let Some(at) = found {
            self.kept.remove(at)
        } else {
            self.kept.retain(|kept| kept.path != path);
            self.kept.drain(..(self.kept.len() + 1).saturating_sub(MAX_KEPT));
            Kept { path: path.to_owned(), stamp, snapshot: loaded(path, progress)? }
        };
        let snapshot = Arc::clone(&kept.snapshot);
        self.kept.push(kept);
        Ok(snapshot)
    }

    /// Forget all, before many others are loaded.
    pub(super) fn clear(&mut self) {
        self.kept.clear();
    }
}

fn loaded(path: &Path, progress: &ManyProgress) -> Result<Arc<Snapshot>, Refusal> {
    let inputs = [Input::File(path.to_owned())];
    let outcome = load_each(&inputs, progress, |_, loaded| loaded).pop().flatten();
    match outcome {
        None | Some(Err(LoadError::Cancelled { .. })) => Err(Refusal::Cancelled),
        Some(Err(error)) => {
            Err(Refusal::Query { message: error.to_string(), hint: error.hint().into_owned() })
        }
        Some(Ok(snapshot)) => Ok(Arc::new(snapshot)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_snapshots").join(name)
    }

    #[test]
    fn the_last_two_are_kept_and_a_new_version_is_loaded() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let paths = ["a.pickle", "b.pickle", "c.pickle"].map(|name| folder.path().join(name));
        for path in &paths {
            std::fs::copy(sample("streams.pickle"), path).expect("a temporary file");
        }
        let (mut shelf, progress) = (Shelf::default(), ManyProgress::default());
        let mut get = |at: usize| shelf.get(&paths[at], &progress).expect("it can be loaded");
        let first = get(0);
        assert!(Arc::ptr_eq(&first, &get(0)));
        get(1);
        assert!(Arc::ptr_eq(&first, &get(0)));
        get(2);
        assert!(Arc::ptr_eq(&first, &get(0)), "the one that was used least is gone");
        get(1);
        get(2);
        assert!(!Arc::ptr_eq(&first, &get(0)));
        std::fs::copy(sample("two_devices_oom.pickle"), &paths[0]).expect("a temporary file");
        assert_eq!(get(0).timelines.len(), 2);
    }

    #[test]
    fn a_cancelled_load_is_no_answer() {
        let progress = ManyProgress::default();
        progress.cancel();
        let found = Shelf::default().get(&sample("streams.pickle"), &progress);
        assert!(matches!(found, Err(Refusal::Cancelled)), "{found:?}");
    }
}
