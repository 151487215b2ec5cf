//! The system's file dialog, without blocking the window.

use eframe::egui;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

/// The Open dialog; at most one is shown.
#[derive(Debug, Default)]
pub(in crate::app) struct OpenDialog {
    answer: Option<Receiver<Vec<PathBuf>>>,
}

impl OpenDialog {
    /// Show it, unless it is already there.
    pub(in crate::app) fn show(&mut self, ctx: &egui::Context) {
        if self.answer.is_some() {
            return;
        }
        // Some systems want dialogs to be made on the window's thread, and all block while waiting.
        let dialog = rfd::AsyncFileDialog::new()
            .set_title("Open memory snapshots")
            .add_filter("Memory snapshots", &["pickle", "pkl", "gz", "zst", "xz", "html"])
            .add_filter("All files", &["*"])
            .pick_files();
        let (sender, answer) = sync_channel(1);
        let ctx = ctx.clone();
        let waiting = thread::Builder::new().name("oomscope-dialog".to_owned()).spawn(move || {
            let files = pollster::block_on(dialog).unwrap_or_default();
            // The window may be gone.
            sender.send(files.into_iter().map(|file| file.path().to_owned()).collect()).ok();
            ctx.request_repaint();
        });
        match waiting {
            Ok(_) => self.answer = Some(answer),
            Err(error) => log::error!("cannot start a thread for the file dialog: {error}"),
        }
    }

    /// The files that were chosen, once.
    pub(in crate::app) fn chosen(&mut self) -> Vec<PathBuf> {
        match self.answer.as_ref().map(Receiver::try_recv) {
            None | Some(Err(TryRecvError::Empty)) => Vec::new(),
            Some(answer) => {
                self.answer = None;
                answer.unwrap_or_default()
            }
        }
    }
}
