//! The page of a window without files: ways to get one.

use super::glances::{Glances, Look};
use super::load_page::{page, page_of_width};
use super::names;
use super::recent::RecentFile;
use super::samples::{Sample, Samples};
use super::snapshot_row::{self, SnapshotRow};
use crate::command::Command;
use crate::theme;
use eframe::egui;
use oomscope_snapshot::load::Input;
use tr::tr;

/// The command that records a program.
const RUN: &str = "oomscope run train.py --lr 1e-4";

/// The same for each rank of a job.
const RUN_RANKS: &str = "torchrun --nproc-per-node 8 -m oomscope run train.py";

/// Code that records a snapshot where the package is not installed.
const RECORD: &str = "from torch.cuda import memory
memory._record_memory_history()
try:
    train()  # what runs out of memory
finally:
    memory._dump_snapshot(\"snapshot.pickle\")";

/// Width of the left column, in points: the code to copy fits.
const LEFT_PX: f32 = 400.0;

/// Width of the right column, in points: verdicts fit.
const RIGHT_PX: f32 = 700.0;

/// Space between the columns, in points.
const GAP_PX: f32 = 56.0;

/// Space at both sides that two columns leave at least, in points; else there is one column.
const MARGINS_PX: f32 = 64.0;

pub(crate) fn ui(
    ui: &mut egui::Ui,
    recent: &[RecentFile],
    samples: &Samples,
    glances: &mut Glances,
    commands: &mut Vec<Command>,
) {
    let is_wide = LEFT_PX + GAP_PX + RIGHT_PX + MARGINS_PX < ui.available_width();
    if !is_wide {
        page(ui, |ui| {
            open_ui(ui, commands);
            ui.add_space(20.0);
            lists_ui(ui, recent, samples, glances, commands);
        });
        return;
    }
    page_of_width(ui, LEFT_PX + GAP_PX + RIGHT_PX, |ui| {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            for (width, is_left) in [(LEFT_PX, true), (RIGHT_PX, false)] {
                ui.vertical(|ui| {
                    ui.spacing_mut().item_spacing.x = 8.0;
                    ui.set_width(width);
                    if is_left {
                        open_ui(ui, commands);
                    } else {
                        lists_ui(ui, recent, samples, glances, commands);
                    }
                });
                ui.add_space(GAP_PX);
            }
        });
    });
}

fn open_ui(ui: &mut egui::Ui, commands: &mut Vec<Command>) {
    ui.heading(tr!("See what filled the GPU"));
    ui.add(
        egui::Label::new(tr!("Open a PyTorch memory snapshot, or drop one anywhere on this window.")).wrap(),
    );
    ui.add_space(8.0);
    if ui.button(tr!("Open snapshots…")).on_hover_text("Ctrl+O").clicked() {
        commands.push(Command::OpenDialog);
    }
    ui.add_space(20.0);
    ui.label(theme::strong(tr!("Record one"), 13.0));
    code_ui(ui, RUN);
    ui.label(theme::small(tr!(
        "The file is written when memory runs out, and its verdict is printed. Each rank of a job:"
    )));
    code_ui(ui, RUN_RANKS);
    ui.add_space(8.0);
    ui.label(theme::small(tr!("Without the package, in the program itself:")));
    code_ui(ui, RECORD);
}

/// Lines to copy.
fn code_ui(ui: &mut egui::Ui, code: &str) {
    theme::well_frame(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.monospace(code);
    });
    if ui.button(tr!("Copy")).on_hover_text(tr!("Copy: {code}", code)).clicked() {
        ui.copy_text(code.to_owned());
    }
}

fn lists_ui(
    ui: &mut egui::Ui,
    recent: &[RecentFile],
    samples: &Samples,
    glances: &mut Glances,
    commands: &mut Vec<Command>,
) {
    ui.spacing_mut().item_spacing.y = 2.0;
    if !recent.is_empty() {
        ui.label(theme::strong(tr!("Open again"), 13.0));
        for file in recent {
            recent_ui(ui, file, glances, commands);
        }
        ui.add_space(20.0);
    }
    ui.label(theme::strong(tr!("Look at a sample"), 13.0));
    for sample in &samples.first {
        sample_ui(ui, sample, glances, commands);
    }
    if let Some(folder) = &samples.folder
        && ui.link(tr!("All samples")).on_hover_text(names::whole_path(folder)).clicked()
    {
        commands.push(Command::OpenFile(folder.clone()));
    }
}

fn recent_ui(ui: &mut egui::Ui, file: &RecentFile, glances: &mut Glances, commands: &mut Vec<Command>) {
    let input = Input::File(file.path.clone());
    let look = if file.is_missing { Look::Waiting } else { glances.look(&input, file.stamp) };
    let row = SnapshotRow {
        name: &names::file_name(&file.path),
        note: &names::folder_of(&file.path),
        hint: &names::whole_path(&file.path),
        until_known: None,
        look,
        version: None,
        is_enabled: !file.is_missing,
    };
    if snapshot_row::ui(ui, &row).clicked() {
        commands.push(Command::OpenFile(file.path.clone()));
    }
}

fn sample_ui(ui: &mut egui::Ui, sample: &Sample, glances: &mut Glances, commands: &mut Vec<Command>) {
    let row = SnapshotRow {
        name: &sample.name,
        note: &sample.program,
        hint: &format!("{}\n{}", sample.program, sample.shows),
        until_known: Some(&sample.shows),
        look: glances.look(&sample.input, sample.stamp),
        version: None,
        is_enabled: true,
    };
    if snapshot_row::ui(ui, &row).clicked() {
        commands.push(match sample.input.path() {
            Some(path) => Command::OpenFile(path.to_owned()),
            None => Command::OpenSample(sample.input.clone()),
        });
    }
}

/// A note that files can be dropped, while some are held above the window.
pub(crate) fn drop_hint(ui: &egui::Ui) {
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
        tr!("Drop to open"),
        font,
        theme::color(palette.accent),
    );
}
