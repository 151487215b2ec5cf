//! The top line: Open, a tab for each file, back and forward, help, settings.

use super::document::Document;
use super::open_file::OpenFile;
use super::recent::{self, RecentFile};
use super::tab_strip;
use crate::command::Command;
use crate::export::{self, ExportChoice};
use crate::preferences::{self, Preferences};
use crate::right_side::RightSide;
use crate::text_size::{self, TextSize};
use crate::texts;
use crate::{menus, theme};
use eframe::egui::containers::menu::{MenuButton, MenuConfig};
use eframe::egui::{self, Panel, PopupCloseBehavior, ThemePreference};
use tr::tr;

/// Room in the line, in points, from which it has buttons for the places before, and a menu of recent files: the
/// places have keys, and the search for commands has the files.
const MIN_HISTORY_PX: f32 = 560.0;
const MIN_RECENT_PX: f32 = 230.0;

pub(crate) fn ui(
    ui: &mut egui::Ui,
    documents: &mut [Document],
    current: usize,
    recent: &[RecentFile],
    preferences: &mut Preferences,
    commands: &mut Vec<Command>,
) {
    let frame = theme::panel_frame(ui, 8, 0);
    Panel::top("tabs").exact_size(36.0).resizable(false).frame(frame).show(ui, |ui| {
        let has_history = MIN_HISTORY_PX <= ui.available_width();
        let right = RightSide::of(ui, "tabs", ui.available_height());
        right.left_ui(ui, |ui| {
            if ui.button(tr!("Open…")).on_hover_text(tr!("Open snapshots (Ctrl+O)")).clicked() {
                commands.push(Command::OpenDialog);
            }
            if MIN_RECENT_PX <= ui.available_width() {
                recent::menu(ui, recent, commands);
            }
            tab_strip::ui(ui, documents, current, commands);
        });
        right.ui(ui, |ui| {
            if let Some(file) = documents.get_mut(current).and_then(Document::open_file) {
                export_menu(ui, commands);
                if has_history {
                    history_buttons(ui, file);
                }
            }
            if ui.button("?").on_hover_text(tr!("Keyboard and mouse")).clicked() {
                commands.push(Command::Help);
            }
            settings_menu(ui, preferences, commands);
        });
    });
}

fn history_buttons(ui: &mut egui::Ui, file: &mut OpenFile) {
    let Some(device) = file.device() else { return };
    let (can_go_back, can_go_forward) = device.at.can_go();
    let back = ui.add_enabled(can_go_back, egui::Button::new(tr!("Back")));
    if back.on_hover_text(tr!("Back to the place before (Alt+Left)")).clicked() {
        device.at.back();
    }
    let forward = ui.add_enabled(can_go_forward, egui::Button::new(tr!("Forward")));
    if forward.on_hover_text(tr!("Forward again (Alt+Right)")).clicked() {
        device.at.forward();
    }
}

fn export_menu(ui: &mut egui::Ui, commands: &mut Vec<Command>) {
    let menu = ui.menu_button(tr!("Export"), |ui| {
        for choice in export::EXPORT_CHOICES {
            if ui.button(texts::translated(choice.name)).clicked() {
                commands.push(Command::Export(choice));
            }
        }
        ui.separator();
        let copy = egui::Button::new(tr!("Copy the timeline"))
            .right_text(theme::muted(ui, "Ctrl+Shift+E").size(11.0));
        if ui.add(copy).on_hover_text(tr!("As a picture, to the clipboard")).clicked() {
            commands.push(Command::CopyPicture(ExportChoice::TIMELINE));
        }
    });
    menus::in_line(&menu.response, false);
    menu.response.on_hover_text(tr!("Write what is shown as a picture, with a caption"));
}

fn settings_popup() -> egui::Id {
    egui::Id::unique("the menu of settings, and whether it is to open")
}

/// Open the menu of settings with the next frame.
pub(crate) fn open_settings(ctx: &egui::Context) {
    ctx.data_mut(|data| data.insert_temp(settings_popup(), true));
}

fn text_size_ui(ui: &mut egui::Ui, commands: &mut Vec<Command>) {
    ui.label(tr!("Text size"));
    ui.horizontal(|ui| {
        let choices = [
            (TextSize::Smaller, "-".to_owned(), tr!("Smaller text"), "Ctrl+-"),
            (TextSize::Larger, "+".to_owned(), tr!("Larger text"), "Ctrl+="),
            (TextSize::Normal, tr!("Normal"), tr!("Text of normal size"), "Ctrl+0"),
        ];
        for (size, label, name, keys) in choices {
            let button = ui.button(label).on_hover_text(format!("{name} ({keys})"));
            button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
            if button.clicked() {
                commands.push(Command::TextSize(size));
            }
        }
        ui.label(theme::muted(ui, text_size::percent(ui.ctx())));
    });
}

fn settings_menu(ui: &mut egui::Ui, preferences: &mut Preferences, commands: &mut Vec<Command>) {
    let choices = [
        (ThemePreference::System, tr!("Follow the system")),
        (ThemePreference::Light, tr!("Light")),
        (ThemePreference::Dark, tr!("Dark")),
    ];
    // The menu stays open while the user types in it.
    let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let (button, _) = MenuButton::new(tr!("Settings")).config(config).ui(ui, |ui| {
        ui.label(tr!("Theme"));
        let current = ui.ctx().options(|options| options.theme_preference);
        for (preference, name) in choices {
            if ui.selectable_label(current == preference, name).clicked() {
                ui.ctx().set_theme(preference);
            }
        }
        ui.separator();
        text_size_ui(ui, commands);
        ui.separator();
        preferences::ui(ui, preferences);
        ui.separator();
        let hint = tr!("Arrange the panes as they were at first");
        if ui.button(tr!("Reset layout")).on_hover_text(hint).clicked() {
            commands.push(Command::ResetLayout);
            ui.close();
        }
    });
    menus::in_line(&button, true);
    if ui.data_mut(|data| data.remove_temp::<bool>(settings_popup())).is_some() {
        egui::Popup::open_id(ui.ctx(), egui::Popup::default_response_id(&button));
        // Tab goes on from here into the menu.
        button.request_focus();
    }
}
