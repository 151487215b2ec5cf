//! How far an export is, and how it ended.

use super::choice::Product;
use eframe::egui;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// How an export ended.
pub(crate) enum Outcome {
    /// A file is there now.
    Written { product: Product, path: PathBuf },
    /// A picture for the clipboard.
    Copied(Arc<egui::ColorImage>),
    /// A file is there already, and was to be kept.
    Exists {
        path: PathBuf,
        /// A name beside it that is not taken.
        free: Option<PathBuf>,
    },
    /// The reason why there is none.
    Failed(String),
    /// The user did not want it any more: nothing was written.
    Cancelled,
}

/// The stage of an export and the wish to end it, shared by the window and the thread.
#[derive(Clone, Default)]
pub(super) struct Watch(Arc<Mutex<Watched>>);

#[derive(Default)]
struct Watched {
    stage: &'static str,
    is_cancelled: bool,
}

impl Watch {
    /// Begin a stage. False if the export is not wanted any more.
    pub(super) fn enter(&self, stage: &'static str) -> bool {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.stage = stage;
        !watched.is_cancelled
    }

    pub(super) fn cancel(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_cancelled = true;
    }

    /// The stage; `None` once it is cancelled.
    pub(super) fn stage(&self) -> Option<&'static str> {
        let watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (!watched.is_cancelled).then_some(watched.stage)
    }
}
