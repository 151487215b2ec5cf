//! The panels that ask for paths: what is to be opened, and where an export goes.

use crate::App;
use crate::command::Command;
use crate::export::{ExportChoice, ExportJob, ExportOrder, PanelWish};
use crate::files::document::Document;
use crate::files::open_file::OpenFile;
use eframe::egui;

impl App {
    /// Ask for files, in the folder of the file that is shown or was opened last.
    pub(super) fn toggle_open_panel(&mut self) {
        let shown = self.documents.get(self.current).and_then(|document| document.input().path());
        let shown = shown.and_then(|path| std::path::absolute(path).ok());
        let recent = self.glances.recent().next();
        self.export_panel.close();
        self.open_panel.toggle(shown.as_deref().or(recent));
    }

    pub(super) fn show_export_panel(&mut self, choice: ExportChoice) {
        let Some(document) = self.documents.get_mut(self.current) else { return };
        let input = document.input().clone();
        if document.open_file().is_some_and(|file| file.device().is_some()) {
            self.open_panel.close();
            self.export_panel.show(choice, input);
        }
    }

    /// Make a picture or report of the current file.
    pub(super) fn export(&mut self, order: ExportOrder, ctx: &egui::Context) {
        let Some(document) = self.documents.get_mut(self.current) else { return };
        let input = document.input().clone();
        let device = document.open_file().and_then(OpenFile::device);
        let job = device.map(|device| ExportJob::new(order, input, device, ctx));
        let refused = job.and_then(|job| self.exporter.start(job, ctx));
        self.notify(refused);
    }

    /// Draw the panels over the window, and carry out what they want.
    pub(super) fn draw_panels(&mut self, ctx: &egui::Context) {
        self.open_panel.ui(ctx, self.setup.mode, &mut self.commands);
        let front = self.documents.get(self.current).map(Document::input);
        match self.export_panel.ui(ctx, self.setup.mode, &self.exporter, front) {
            Some(PanelWish::Export(order)) => self.export(order, ctx),
            Some(PanelWish::SystemDialog) => {
                let target = self.export_panel.target();
                let refused = target.and_then(|(path, kind)| self.export_dialog.save(&path, kind, ctx));
                let refused = refused.and_then(|why| self.export_panel.say(why));
                self.notice = refused.or(self.notice.take());
            }
            None => {}
        }
    }

    /// Open files that were dropped on the window or chosen in the dialog.
    pub(super) fn take_files(&mut self, ctx: &egui::Context) {
        let dropped = ctx.input_mut(|input| std::mem::take(&mut input.raw.dropped_files));
        self.commands.extend(dropped.iter().map(|file| Command::OpenFile(file.path().to_owned())));
        match self.open_dialog.answer() {
            Ok(chosen) if chosen.is_empty() => {}
            Ok(chosen) => {
                self.open_panel.close();
                self.commands.extend(chosen.into_iter().map(Command::OpenFile));
            }
            Err(why) => self.notice = self.open_panel.say(why).or(self.notice.take()),
        }
        match self.export_dialog.answer() {
            Ok(chosen) => {
                let order = chosen.first().and_then(|path| self.export_panel.take_chosen(path));
                if let Some(order) = order {
                    self.export(order, ctx);
                }
            }
            Err(why) => self.notice = self.export_panel.say(why).or(self.notice.take()),
        }
    }
}
