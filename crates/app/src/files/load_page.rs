//! A file that is not open yet, or cannot be opened.

use super::preview;
use crate::command::Command;
use crate::texts;
use crate::theme;
use eframe::egui::{self, CentralPanel, ProgressBar};
use oomscope_snapshot::load::LoadJob;
use oomscope_units as units;
use std::borrow::Cow;
use tr::tr;

/// The reason why a file is not open.
pub(crate) struct Failure {
    /// The error.
    pub(crate) message: String,
    /// Something to try.
    pub(crate) hint: Cow<'static, str>,
    /// Memory to allow, in bytes, if the file met the bound.
    pub(crate) more_memory: Option<u64>,
}

/// Largest width of the column of text, in points: longer lines are hard to read.
const COLUMN_PX: f32 = 560.0;

pub(crate) fn progress_ui(ui: &mut egui::Ui, title: &str, job: &LoadJob) {
    let progress = job.progress();
    let read = units::bytes(progress.read_bytes() as i64);
    let read = match progress.total_bytes() {
        Some(total) => tr!("{read} of {all}", read, all = units::bytes(total as i64)),
        None => read,
    };
    let events = texts::events(progress.events() as usize);
    page(ui, |ui| {
        ui.heading(tr!("Loading {title}", title));
        ui.add_space(8.0);
        let bar = ProgressBar::new(progress.fraction().unwrap_or(0.0)).desired_width(ui.available_width());
        ui.add(bar.desired_height(8.0));
        let phase =
            if progress.is_building() { tr!("putting the timeline together") } else { tr!("reading") };
        ui.label(theme::muted(ui, format!("{read} · {events} · {phase}")));
        ui.add_space(8.0);
        if ui.button(tr!("Cancel")).clicked() {
            progress.cancel();
        }
        if let Some(seen) = progress.seen() {
            preview::ui(ui, &seen, progress.fraction());
        }
    });
}

pub(crate) fn failure_ui(
    ui: &mut egui::Ui,
    title: &str,
    failure: &Failure,
    tab: usize,
    commands: &mut Vec<Command>,
) {
    page(ui, |ui| {
        ui.heading(tr!("{title} cannot be opened", title));
        ui.add_space(8.0);
        theme::well_frame(ui).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.add(egui::Label::new(egui::RichText::new(&failure.message).monospace()).wrap());
        });
        ui.add_space(4.0);
        ui.add(egui::Label::new(tr!("What to try: {}", failure.hint)).wrap());
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            if let Some(bytes) = failure.more_memory {
                more_memory_ui(ui, bytes, tab, commands);
            }
            if ui.button(tr!("Try again")).clicked() {
                commands.push(Command::Reload(tab));
            }
            if ui.button(tr!("Copy details")).clicked() {
                ui.copy_text(format!("{}\n{}", failure.message, failure.hint));
            }
            if ui.button(tr!("Close")).clicked() {
                commands.push(Command::Close(tab));
            }
        });
    });
}

/// The button that loads a file with more memory than others may take.
fn more_memory_ui(ui: &mut egui::Ui, bytes: u64, tab: usize, commands: &mut Vec<Command>) {
    let size = units::bytes(i64::try_from(bytes).unwrap_or(i64::MAX));
    let hint = tr!(
        "A small file that takes this much may be made to fill memory. It may then take up to {size}.",
        size
    );
    if ui.button(tr!("Load with more memory")).on_hover_text(hint).clicked() {
        commands.push(Command::AllowMemory(tab, bytes));
    }
}

/// A column in the middle of the window.
pub(crate) fn page(ui: &mut egui::Ui, contents: impl FnOnce(&mut egui::Ui)) {
    page_of_width(ui, COLUMN_PX, contents);
}

/// A column of at most this width in the middle of the window.
pub(crate) fn page_of_width(ui: &mut egui::Ui, width_px: f32, contents: impl FnOnce(&mut egui::Ui)) {
    let frame = egui::Frame::NONE.fill(theme::color(theme::palette(ui).panel));
    CentralPanel::default().frame(frame).show(ui, |ui| {
        egui::ScrollArea::vertical().show(ui, |ui| {
            let all = ui.available_rect_before_wrap();
            let width = width_px.min(all.width() - 32.0);
            let top = (all.height() * 0.16).max(16.0);
            let min = egui::pos2(all.center().x - width / 2.0, all.top() + top);
            let rect = egui::Rect::from_min_size(min, egui::vec2(width, (all.height() - top).max(0.0)));
            ui.scope_builder(egui::UiBuilder::new().max_rect(rect), contents);
        });
    });
}
