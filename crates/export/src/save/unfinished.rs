//! Outputs that are not complete yet, so that a process that is told to end can take them away.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

static ALL: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn all() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file or a folder that goes away where the process is told to end: see [`abandon`]. Dropped, it stays.
#[derive(Debug)]
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// Make a file or a folder. The process does not end between its making and this knowing of it.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn make<T>(
        make: impl FnOnce() -> io::Result<T>,
        path: impl FnOnce(&T) -> PathBuf,
    ) -> io::Result<(T, Self)> {
        let mut all = all();
        let made = make()?;
        let path = path(&made);
        all.insert(path.clone());
        Ok((made, Self(path)))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        all().remove(&self.0);
    }
}

/// Remove every output that is not complete, then end the process with `end`. No other is begun meanwhile. Folders with something
/// in them stay.
pub fn abandon(end: impl FnOnce()) {
    let all = all();
    // What is in a folder comes behind it.
    for path in all.iter().rev() {
        fs::remove_file(path).or_else(|_| fs::remove_dir(path)).ok();
    }
    end();
}
