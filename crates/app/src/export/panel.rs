//! *Export*: the name of the file as a field inside the window, and what came of it.

use super::choice::{ExportChoice, Product};
use super::exporter::Exporter;
use super::job::{ExportOrder, Target};
use super::outcome::Outcome;
use super::preset::{self, FindWritable};
use crate::dialog;
use crate::paths::{Kinds, PathPicker, Places};
use crate::theme;
use crate::work::background::Background;
use crate::work::worker::WorkMode;
use eframe::egui;
use oomscope_export::save::Existing;
use oomscope_snapshot::load::Input;
use oomscope_units as units;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tr::tr;

/// Height of the list, in points: enough to see which names are taken.
const LIST_PX: f32 = 176.0;

/// Time between two looks at the stage of an export: short enough for the user.
const STAGE_TICK: Duration = Duration::from_millis(100);

/// The panel; at most one is shown.
#[derive(Default)]
pub(crate) struct ExportPanel {
    shown: Option<Shown>,
    /// Folders are left out of names. Kept for the next export.
    redacts: bool,
}

struct Shown {
    choice: ExportChoice,
    /// The recording, whose tab is in front.
    input: Input,
    picker: PathPicker,
    places: Places,
    /// The file that was offered, until it is known whether its folder can be written.
    offered: Option<PathBuf>,
    finding: Background<FindWritable>,
    said: Said,
}

/// What the user wants of the panel.
pub(crate) enum PanelWish {
    Export(ExportOrder),
    /// A dialog of the system, which asks for the file.
    SystemDialog,
}

/// What the panel says below the field.
enum Said {
    Nothing,
    /// There is such a file.
    Exists {
        path: PathBuf,
        free: Option<PathBuf>,
    },
    Text(String),
}

impl ExportPanel {
    /// Ask where to write something.
    pub(crate) fn show(&mut self, choice: ExportChoice, input: Input) {
        let places = Places::of_process();
        let offered = preset::beside(&input, choice, &places);
        let kinds = Kinds::Target(choice.product.extension());
        self.shown = Some(Shown {
            choice,
            input,
            picker: PathPicker::new(kinds, places.clone(), places.shown(&offered)),
            places,
            offered: Some(offered),
            finding: Background::default(),
            said: Said::Nothing,
        });
    }

    pub(crate) fn close(&mut self) {
        self.shown = None;
    }

    /// Whether folders are left out of names.
    pub(crate) fn redacts(&self) -> bool {
        self.redacts
    }

    /// Say something in the panel; gives it back if that is not shown.
    pub(crate) fn say(&mut self, text: String) -> Option<String> {
        match &mut self.shown {
            Some(shown) => shown.said = Said::Text(text),
            None => return Some(text),
        }
        None
    }

    pub(crate) fn is_shown(&self) -> bool {
        self.shown.is_some()
    }

    /// The target that a system dialog should start with, and its extension.
    pub(crate) fn target(&self) -> Option<(PathBuf, &'static str)> {
        self.shown.as_ref().map(|shown| (shown.picker.path(), shown.choice.product.extension()))
    }

    /// Write to a file that the system's dialog was given, which has asked whether it may be replaced.
    pub(crate) fn take_chosen(&mut self, chosen: &Path) -> Option<ExportOrder> {
        let redacts = self.redacts;
        let shown = self.shown.as_mut()?;
        shown.offered = None;
        shown.picker.write(shown.places.shown(chosen));
        let extension = shown.choice.product.extension();
        // It has asked for the name that was chosen, not for one with another extension.
        let is_as_chosen = preset::with_extension(chosen, extension) == chosen;
        let existing = if is_as_chosen { Existing::Replace } else { Existing::Keep };
        Some(ExportOrder { choice: shown.choice, target: Target::File(chosen.to_owned(), existing), redacts })
    }

    /// Say how an export ended; what is done needs no panel any more. Returns what the window says of it.
    pub(crate) fn take_outcome(&mut self, outcome: Outcome, ctx: &egui::Context) -> Option<String> {
        let said = match outcome {
            Outcome::Copied(image) => {
                ctx.copy_image(image.as_ref().clone());
                self.shown = None;
                return Some(tr!("Picture copied to the clipboard"));
            }
            Outcome::Written { product, path } => {
                self.shown = None;
                let path = shown_path(&path);
                return Some(match product {
                    Product::Picture(..) => tr!("Picture written to {}", path),
                    Product::Report => tr!("Report written to {}", path),
                });
            }
            Outcome::Exists { path, free } => Said::Exists { path, free },
            Outcome::Failed(why) => Said::Text(why),
            Outcome::Cancelled => Said::Text(tr!("Cancelled: nothing was written")),
        };
        let text = said.text();
        if let Some(shown) = &mut self.shown {
            shown.said = said;
            shown.picker.refresh();
        }
        text
    }

    /// The panel, if it is shown for the file that is in front. Returns what the user wants written.
    pub(crate) fn ui(
        &mut self,
        ctx: &egui::Context,
        mode: WorkMode,
        exporter: &Exporter,
        front: Option<&Input>,
    ) -> Option<PanelWish> {
        let redacts = &mut self.redacts;
        let Some(shown) = self.shown.as_mut().filter(|shown| Some(&shown.input) == front) else {
            self.shown = None;
            return None;
        };
        shown.move_home(ctx, mode);
        let mut wish = None;
        let is_open = dialog::ui(ctx, &shown.choice.title(), |ui| {
            let picked = shown.picker.ui(ui, mode, LIST_PX);
            ui.separator();
            let target = picked.map(|path| Target::File(path, Existing::Keep));
            let target = shown.buttons_ui(ui, redacts, exporter, &mut wish).or(target);
            let target = shown.said_ui(ui, exporter).or(target);
            if let Some(target) = target {
                shown.said = Said::Nothing;
                let order = ExportOrder { choice: shown.choice, target, redacts: *redacts };
                wish = Some(PanelWish::Export(order));
            }
        });
        if !is_open {
            self.shown = None;
        }
        wish
    }
}

impl Shown {
    /// Offer a file at home if the recording's folder cannot be written, and the user has not changed the name.
    fn move_home(&mut self, ctx: &egui::Context, mode: WorkMode) {
        let Some(offered) = &self.offered else { return };
        if self.picker.text() != self.places.shown(offered) {
            self.offered = None;
            return;
        }
        let task = || FindWritable(self.places.clone());
        if let Some(found) = self.finding.ask(offered, ctx, mode, "export folder", task) {
            if found != offered {
                self.picker.write(self.places.shown(found));
            }
            self.offered = None;
        }
    }

    fn buttons_ui(
        &mut self,
        ui: &mut egui::Ui,
        redacts: &mut bool,
        exporter: &Exporter,
        wish: &mut Option<PanelWish>,
    ) -> Option<Target> {
        let mut target = None;
        ui.horizontal_wrapped(|ui| {
            ui.add_enabled_ui(!exporter.is_busy(), |ui| {
                if ui.button(tr!("Write")).on_hover_text("Enter").clicked() {
                    self.picker.enter(ui.ctx());
                }
                let hint = tr!("The same picture to the clipboard");
                if self.choice.product.is_pixels()
                    && ui.button(tr!("Copy picture")).on_hover_text(hint).clicked()
                {
                    target = Some(Target::Clipboard);
                }
            });
            let hint = tr!("Leave out user names, paths and hosts; file names and lines stay");
            ui.checkbox(redacts, tr!("Redact")).on_hover_text(hint);
            if ui
                .button(tr!("System dialog…"))
                .on_hover_text(tr!("Choose with the dialog of the desktop"))
                .clicked()
            {
                *wish = Some(PanelWish::SystemDialog);
            }
        });
        target
    }

    /// What is being done, or what came of it.
    fn said_ui(&mut self, ui: &mut egui::Ui, exporter: &Exporter) -> Option<Target> {
        if let Some(stage) = exporter.stage() {
            ui.ctx().request_repaint_after(STAGE_TICK);
            ui.horizontal(|ui| {
                ui.spinner();
                ui.label(format!("{stage} …"));
                if ui.button(tr!("Cancel")).on_hover_text(tr!("Stop, and write nothing")).clicked() {
                    exporter.cancel();
                }
            });
            return None;
        }
        match &self.said {
            Said::Nothing => None,
            Said::Text(text) => {
                ui.add(egui::Label::new(text).wrap());
                None
            }
            Said::Exists { path, free } => exists_ui(ui, path, free.as_deref()),
        }
    }
}

/// The question whether a file may be replaced. Returns the answer.
fn exists_ui(ui: &mut egui::Ui, path: &Path, free: Option<&Path>) -> Option<Target> {
    let mut target = None;
    let name = |path: &Path| units::printable(&path.file_name().unwrap_or_default().to_string_lossy());
    ui.add(egui::Label::new(theme::strong(tr!("{} exists. Replace it?", name(path)), 13.0)).wrap());
    ui.horizontal_wrapped(|ui| {
        if ui.button(tr!("Replace")).clicked() {
            target = Some(Target::File(path.to_owned(), Existing::Replace));
        }
        if let Some(free) = free
            && ui.button(tr!("Write {}", name(free))).clicked()
        {
            target = Some(Target::File(free.to_owned(), Existing::Keep));
        }
    });
    target
}

impl Said {
    fn text(&self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Exists { path, .. } => Some(tr!("{} exists and was kept", shown_path(path))),
            Self::Text(text) => Some(text.clone()),
        }
    }
}

fn shown_path(path: &Path) -> String {
    units::printable(&path.display().to_string())
}
