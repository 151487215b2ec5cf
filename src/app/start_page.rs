//! What a window without files shows: how to get one.

use super::load_page::page;
use super::{Command, theme};
use crate::units;
use eframe::egui;
use std::path::{Path, PathBuf};

const RECORD: &str = "torch.cuda.memory._record_memory_history()
...  # run until it fails or peaks
torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")";

const SAMPLES: &str = "sample_snapshots";

pub(super) fn ui(ui: &mut egui::Ui, samples: &[PathBuf], commands: &mut Vec<Command>) {
    page(ui, |ui| {
        ui.heading("See what filled the GPU");
        ui.add(
            egui::Label::new("Open a PyTorch memory snapshot, or drop one anywhere on this window.").wrap(),
        );
        ui.add_space(8.0);
        if ui.button("Open snapshots…").on_hover_text("Ctrl+O").clicked() {
            commands.push(Command::OpenDialog);
        }
        ui.add_space(16.0);
        ui.label(theme::strong("Record one", 13.0));
        theme::well_frame(ui).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.monospace(RECORD);
        });
        if ui.button("Copy").on_hover_text("Copy these lines").clicked() {
            ui.copy_text(RECORD.to_owned());
        }
        if !samples.is_empty() {
            ui.add_space(16.0);
            ui.label(theme::strong("Look at a sample", 13.0));
            for sample in samples {
                let name = sample.display().to_string();
                if ui.link(units::basename(&name)).on_hover_text(&name).clicked() {
                    commands.push(Command::OpenFile(sample.clone()));
                }
            }
        }
    });
}

/// Says that files can be dropped, while some hover above the window.
pub(super) fn drop_hint(ui: &egui::Ui) {
    if ui.input(|input| input.raw.hovered_files.is_empty()) {
        return;
    }
    let palette = theme::palette(ui);
    let layer = egui::LayerId::new(egui::Order::Foreground, egui::Id::unique("drop hint"));
    let painter = ui.ctx().layer_painter(layer);
    let all = ui.ctx().content_rect();
    painter.rect_filled(all, 0.0, theme::faded(palette.window, 0.85));
    let font = egui::TextStyle::Heading.resolve(ui.style());
    painter.text(
        all.center(),
        egui::Align2::CENTER_CENTER,
        "Drop to open",
        font,
        theme::color(palette.accent),
    );
}

/// The bundled samples, beside the program or in the current folder.
pub(super) fn find_samples() -> Vec<PathBuf> {
    let beside = std::env::current_exe().ok();
    let places = std::iter::once(Path::new("")).chain(beside.iter().flat_map(|exe| exe.ancestors().skip(1)));
    let folder = places.map(|place| place.join(SAMPLES)).find(|folder| folder.is_dir());
    let Some(entries) = folder.and_then(|folder| folder.read_dir().ok()) else { return Vec::new() };
    let is_snapshot = |path: &PathBuf| path.to_string_lossy().contains(".pickle");
    let mut samples: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_snapshot).collect();
    samples.sort();
    samples
}
