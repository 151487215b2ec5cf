//! The files that were opened last.

use super::{Command, theme};
use crate::units;
use eframe::egui;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// How many are remembered.
const MAX_FILES: usize = 10;

/// Files, the latest first, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Recent {
    files: Vec<PathBuf>,
}

impl Recent {
    /// A file was opened.
    pub(super) fn add(&mut self, path: &Path) {
        // The same file by another name of its folder counts once; a file that is gone stays as it is.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.files.retain(|file| *file != path);
        self.files.insert(0, path);
        self.files.truncate(MAX_FILES);
    }

    /// The files, the latest first.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Forget all.
    pub(super) fn clear(&mut self) {
        self.files.clear();
    }
}
