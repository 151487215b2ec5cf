//! The tabs of files in the top line. Those that do not fit are in a menu.

use super::document::Document;
use super::names::elided;
use crate::command::Command;
use crate::{menus, theme};
use eframe::egui::{self, Align, Layout, TextStyle, vec2};
use std::ops::Range;
use tr::tr;

/// Widest name of one tab among many, in points: four fit beside the buttons of a window of 1280.
const CROWDED_NAME_PX: f32 = 132.0;

/// Widest name where there is room for all, in points: about fifty letters.
const MAX_NAME_PX: f32 = 360.0;

/// Width of a tab without its name, in points: the padding of the name, and the button that closes it.
const AROUND_NAME_PX: f32 = 44.0;

/// Size of the button that closes a tab, in points.
const CLOSE_PX: f32 = 18.0;

/// Width of the menu's button, in points.
const MENU_PX: f32 = 72.0;

/// Height of a tab, in points.
const TAB_PX: f32 = 26.0;

/// A tab is round above alone, and the current one has a line of this width, in points, below it: buttons and chips are round
/// all around.
const CORNERS: egui::CornerRadius = egui::CornerRadius { nw: 5, ne: 5, sw: 0, se: 0 };
const LINE_PX: f32 = 2.0;

/// Smallest width of the menu, in points.
const MIN_MENU_PX: f32 = 280.0;

/// Draw the tabs into what is left of a line.
pub(super) fn ui(ui: &mut egui::Ui, documents: &[Document], current: usize, commands: &mut Vec<Command>) {
    let room = ui.available_width();
    // Every tab may have an even share of the room.
    let name_px = (room / documents.len().max(1) as f32 - AROUND_NAME_PX).clamp(CROWDED_NAME_PX, MAX_NAME_PX);
    let name = |document: &Document| elided(ui, document.title(), &TextStyle::Button, name_px);
    let names: Vec<String> = documents.iter().map(name).collect();
    let marked = documents.iter().zip(&names).map(|(document, name)| title_text(ui, document, name));
    let widths: Vec<f32> = marked.map(|name| width_of(ui, name.text())).collect();
    let all_fit = widths.iter().sum::<f32>() <= room;
    let first_id = egui::Id::unique("first shown tab");
    let first = ui.data(|data| data.get_temp(first_id)).unwrap_or(0);
    let shown = if all_fit { 0..names.len() } else { visible(&widths, current, first, room - MENU_PX) };
    ui.data_mut(|data| data.insert_temp(first_id, shown.start));
    ui.spacing_mut().item_spacing.x = 0.0;
    for at in shown.clone() {
        let size = vec2(widths[at], TAB_PX);
        ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
            tab(ui, at, &documents[at], &names[at], at == current, commands);
        });
    }
    if shown.len() < names.len() {
        all_menu(ui, documents, current, commands);
    }
}

fn width_of(ui: &egui::Ui, name: &str) -> f32 {
    let font = TextStyle::Button.resolve(ui.style());
    let galley = ui.painter().layout_no_wrap(name.to_owned(), font, egui::Color32::PLACEHOLDER);
    galley.size().x.ceil() + AROUND_NAME_PX
}

/// The tabs that fit: from `first` on, moved as little as possible so that the current one is among them.
fn visible(widths: &[f32], current: usize, first: usize, room: f32) -> Range<usize> {
    let current = current.min(widths.len().saturating_sub(1));
    let width = |range: Range<usize>| widths.get(range).unwrap_or_default().iter().sum::<f32>();
    let mut start = first.min(current);
    while start < current && room < width(start..current + 1) {
        start += 1;
    }
    // No room is left empty at the end.
    while 0 < start && width(start - 1..widths.len()) <= room {
        start -= 1;
    }
    let mut end = (current + 1).min(widths.len());
    while end < widths.len() && width(start..end + 1) <= room {
        end += 1;
    }
    start..end
}

fn tab(
    ui: &mut egui::Ui,
    at: usize,
    document: &Document,
    name: &str,
    is_current: bool,
    commands: &mut Vec<Command>,
) {
    ui.spacing_mut().item_spacing.x = 2.0;
    let title = egui::Button::selectable(is_current, title_text(ui, document, name));
    let label = ui.add(title.corner_radius(CORNERS)).on_hover_text(document.input().name());
    if is_current {
        let line = egui::Stroke::new(LINE_PX, theme::color(theme::palette(ui).accent));
        ui.painter().hline(label.rect.x_range(), label.rect.bottom() - LINE_PX / 2.0, line);
    }
    let enabled = ui.is_enabled();
    let title = document.title();
    let spoken = if document.is_failed() { tr!("not read: {title}", title) } else { title.to_owned() };
    label.widget_info(|| egui::WidgetInfo::selected(egui::Role::Tab, enabled, is_current, &spoken));
    if label.clicked() {
        commands.push(Command::Show(at));
    }
    if label.middle_clicked() {
        commands.push(Command::Close(at));
    }
    label.context_menu(|ui| context_menu(ui, at, document, commands));
    let name = tr!("Close {}", document.title());
    let close =
        ui.add(egui::Button::new("×").frame(false).min_size(vec2(CLOSE_PX, CLOSE_PX))).on_hover_text(&name);
    close.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, enabled, &name));
    if close.clicked() {
        commands.push(Command::Close(at));
    }
}

/// The name of a file; one that could not be read is told apart with and without colours.
fn title_text(ui: &egui::Ui, document: &Document, name: &str) -> egui::RichText {
    if document.is_failed() {
        return egui::RichText::new(format!("! {name}")).color(theme::color(theme::palette(ui).oom));
    }
    egui::RichText::new(name)
}

fn context_menu(ui: &mut egui::Ui, at: usize, document: &Document, commands: &mut Vec<Command>) {
    let mut item = |ui: &mut egui::Ui, name: &str, command: Command| {
        if ui.button(name).clicked() {
            commands.push(command);
            ui.close();
        }
    };
    item(ui, &tr!("Close"), Command::Close(at));
    item(ui, &tr!("Close others"), Command::CloseOthers(at));
    item(ui, &tr!("Load again"), Command::Reload(at));
    ui.separator();
    if let Some(path) = document.input().path() {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(std::path::Path::new("."));
        item(ui, &tr!("Show its folder"), Command::OpenFile(folder.to_owned()));
        if ui.button(tr!("Copy path")).clicked() {
            ui.copy_text(path.display().to_string());
            ui.close();
        }
        item(ui, &tr!("Copy link to this view"), Command::CopyLink(at));
        ui.separator();
    }
    item(ui, &tr!("Reset layout"), Command::ResetLayout);
}

/// The menu of all files.
fn all_menu(ui: &mut egui::Ui, documents: &[Document], current: usize, commands: &mut Vec<Command>) {
    let menu = ui.menu_button(tr!("All {}", documents.len()), |ui| {
        ui.set_min_width(MIN_MENU_PX);
        egui::ScrollArea::vertical().show(ui, |ui| {
            for (at, document) in documents.iter().enumerate() {
                let title = title_text(ui, document, document.title());
                let label = ui.selectable_label(at == current, title);
                if label.on_hover_text(document.input().name()).clicked() {
                    commands.push(Command::Show(at));
                    ui.close();
                }
            }
        });
    });
    menus::in_line(&menu.response, false);
    menu.response.on_hover_text(tr!("All open files"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_tab_is_always_among_those_that_are_shown() {
        let widths = [100.0; 10];
        for current in 0..10 {
            for first in 0..12 {
                let shown = visible(&widths, current, first, 350.0);
                assert!(shown.contains(&current) && shown.len() == 3, "{current} {first} {shown:?}");
            }
        }
    }

    #[test]
    fn tabs_move_as_little_as_possible() {
        let widths = [100.0; 10];
        assert_eq!(visible(&widths, 5, 4, 350.0), 4..7);
        assert_eq!(visible(&widths, 3, 4, 350.0), 3..6);
        assert_eq!(visible(&widths, 9, 4, 350.0), 7..10);
        // Two were closed at the end.
        assert_eq!(visible(&widths[..8], 7, 7, 350.0), 5..8);
    }

    #[test]
    fn a_tab_that_is_wider_than_the_room_is_shown_alone() {
        assert_eq!(visible(&[500.0, 500.0], 1, 0, 350.0), 1..2);
        assert_eq!(visible(&[], 0, 0, 350.0), 0..0);
    }
}
