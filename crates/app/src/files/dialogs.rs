//! The system's file dialogs, without blocking the window. Some systems have none; the fields for paths work everywhere.

use crate::command::Wanted;
use crate::dialog_log;
use eframe::egui;
use oomscope_snapshot::load::endings;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;
use tr::tr;

/// A dialog; at most one is shown.
#[derive(Debug, Default)]
pub(crate) struct SystemDialog {
    answer: Option<Receiver<Chosen>>,
}

/// The files that were chosen, or the reason why no dialog could open.
type Chosen = Result<Vec<PathBuf>, String>;

impl SystemDialog {
    /// Ask for files or folders to open, unless a dialog is already there. Returns a message if that cannot be done.
    pub(crate) fn open(&mut self, folder: &Path, wanted: Wanted, ctx: &egui::Context) -> Option<String> {
        // Some systems want dialogs to be made on the window's thread, and all block while waiting.
        let dialog = rfd::AsyncFileDialog::new()
            .set_title(tr!("Open memory snapshots"))
            .set_directory(folder)
            .add_filter(tr!("Memory snapshots"), &endings().collect::<Vec<_>>())
            .add_filter(tr!("All files"), &["*"]);
        match wanted {
            Wanted::Files => self.wait(dialog.pick_files(), ctx),
            Wanted::Folders => self.wait(dialog.pick_folders(), ctx),
        }
    }

    /// Ask for a file to write, unless a dialog is already there. Returns a message if that cannot be done.
    pub(crate) fn save(&mut self, target: &Path, extension: &str, ctx: &egui::Context) -> Option<String> {
        let dialog = rfd::AsyncFileDialog::new()
            .set_title(tr!("Export"))
            .set_directory(target.parent().unwrap_or(Path::new("")))
            .set_file_name(target.file_name().unwrap_or_default().to_string_lossy())
            .add_filter(extension.to_uppercase(), &[extension])
            .save_file();
        self.wait(async { dialog.await.map(|file| vec![file]) }, ctx)
    }

    fn wait(
        &mut self,
        dialog: impl Future<Output = Option<Vec<rfd::FileHandle>>> + Send + 'static,
        ctx: &egui::Context,
    ) -> Option<String> {
        if self.answer.is_some() {
            return None;
        }
        let (sender, answer) = sync_channel(1);
        let ctx = ctx.clone();
        let waiting = thread::Builder::new().name("oomscope-dialog".to_owned()).spawn(move || {
            let files = match pollster::block_on(dialog) {
                Some(files) => Ok(files.into_iter().map(|file| file.path().to_owned()).collect()),
                None => match dialog_log::take_reason() {
                    Some(reason) => Err(dialog_log::explain(&reason)),
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
            Err(error) => Some(dialog_log::explain(&error.to_string())),
        }
    }

    /// The files that were chosen, or the reason why none could be; once.
    pub(crate) fn answer(&mut self) -> Chosen {
        match self.answer.as_ref().map(Receiver::try_recv) {
            None | Some(Err(TryRecvError::Empty)) => Ok(Vec::new()),
            Some(answer) => {
                self.answer = None;
                answer.unwrap_or(Ok(Vec::new()))
            }
        }
    }
}
