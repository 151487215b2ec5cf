//! The system's file dialogs, without blocking the window.

use crate::app::dialog_log;
use eframe::egui;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

/// The Open dialog; at most one is shown.
#[derive(Debug, Default)]
pub(in crate::app) struct OpenDialog {
    answer: Option<Receiver<Chosen>>,
}

/// The files that were chosen, or the reason why no dialog could open.
type Chosen = Result<Vec<PathBuf>, String>;

/// The advice if there is no dialog.
const INSTEAD: &str = "drop files on this window, or name them after 'oomscope' on the command line";

impl OpenDialog {
    /// Show it, unless it is already there. Returns a message if that cannot be done.
    pub(in crate::app) fn show(&mut self, ctx: &egui::Context) -> Option<String> {
        if self.answer.is_some() {
            return None;
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
            let files = match pollster::block_on(dialog) {
                Some(files) => Ok(files.into_iter().map(|file| file.path().to_owned()).collect()),
                None => match dialog_log::take_reason() {
                    Some(reason) => Err(dialog_log::explain(&reason, INSTEAD)),
                    None => Ok(Vec::new()),
                },
            };
            // The window may be gone.
            sender.send(files).ok();
            ctx.request_repaint();
        });
        match waiting {
            Ok(_) => {
                self.answer = Some(answer);
                None
            }
            Err(error) => Some(dialog_log::explain(&error.to_string(), INSTEAD)),
        }
    }

    /// The files that were chosen, or the reason why none could be; once.
    pub(in crate::app) fn answer(&mut self) -> Chosen {
        match self.answer.as_ref().map(Receiver::try_recv) {
            None | Some(Err(TryRecvError::Empty)) => Ok(Vec::new()),
            Some(answer) => {
                self.answer = None;
                answer.unwrap_or(Ok(Vec::new()))
            }
        }
    }
}
