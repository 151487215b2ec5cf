//! A stack, innermost frame first, in which runs of frames that are not the user's own are folded.

use super::editor;
use super::facts::FrameText;
use crate::accessible;
use crate::pointed::{self, Thing};
use crate::theme;
use eframe::egui;
use oomscope_analysis::{SiteFrame, frame_line};
use oomscope_model::StackId;
use oomscope_units as units;
use tr::tr;

/// Show the frames of a stack.
pub(crate) fn ui(
    ui: &mut egui::Ui,
    title: &str,
    frames: &[FrameText],
    stack: Option<StackId>,
    shows_internal: &mut bool,
) {
    let internal = frames.iter().filter(|frame| frame.is_internal).count();
    // From the right, so that the note is cut where there is no room for it.
    let size = egui::vec2(ui.available_width(), ui.spacing().interact_size.y);
    ui.allocate_ui_with_layout(size, egui::Layout::right_to_left(egui::Align::Center), |ui| {
        if internal != 0 && internal < frames.len() {
            ui.checkbox(shows_internal, tr!("All frames"))
                .on_hover_text(tr!("Also frames of torch, the interpreter and libraries"));
        }
        ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
            ui.label(theme::strong(title, 13.0));
            ui.add(egui::Label::new(theme::muted(ui, tr!("innermost first"))).truncate());
        });
    });
    ui.add_space(2.0);
    if frames.is_empty() {
        let hint = tr!("No stack was recorded for this allocation. It may be older than the recording.");
        ui.add(egui::Label::new(theme::muted(ui, hint)).wrap());
        return;
    }
    let shows_all = *shows_internal || internal == frames.len();
    let mut first_own = frames.iter().position(|frame| !frame.is_internal);
    let mut hidden = 0;
    for (i, frame) in frames.iter().enumerate() {
        if frame.is_internal && !shows_all {
            hidden += 1;
            continue;
        }
        folded_ui(ui, std::mem::take(&mut hidden), shows_internal);
        let is_first_own = first_own.take_if(|own| *own == i).is_some();
        frame_ui(ui, frame, stack, is_first_own);
    }
    folded_ui(ui, hidden, shows_internal);
}

/// Open a frame's line. Returns a message about the outcome.
pub(crate) fn open_in_editor(command: &str, frame: &SiteFrame) -> String {
    match editor::open(command, &frame.file, frame.line) {
        Ok(()) => tr!("Opening {} in the editor", frame_line(frame)),
        Err(error) => tr!("Not opened: {error}", error),
    }
}

/// A run of frames that are not shown.
fn folded_ui(ui: &mut egui::Ui, count: usize, shows_internal: &mut bool) {
    if count == 0 {
        return;
    }
    let text = theme::muted(
        ui,
        tr!("… {} internal frame" | "… {} internal frames" % count, units::count(count as u64)),
    )
    .size(12.0);
    if ui.add(egui::Button::new(text).frame(false)).on_hover_text(tr!("Show all frames")).clicked() {
        *shows_internal = true;
    }
}

/// One frame with a menu.
fn frame_ui(ui: &mut egui::Ui, text: &FrameText, stack: Option<StackId>, is_first_own: bool) {
    let text_of_line = frame_line(&text.frame);
    let line = text_of_line.clone();
    let line = match (is_first_own, text.is_internal) {
        (true, _) => theme::strong(line, 13.0),
        (false, true) => theme::muted(ui, line).size(12.0),
        (false, false) => egui::RichText::new(line).size(13.0),
    };
    let place = format!("{}:{}\n{}", text.frame.file, text.frame.line, text.frame.name);
    let label = egui::Label::new(line).wrap().sense(egui::Sense::click());
    let response = ui.add(label).on_hover_text(format!("{place}\n{}", tr!("Right click for more")));
    accessible::pressable_text(&response, &text_of_line);
    pointed::on_press(&response, || Some(Thing::Line { frame: text.frame.clone(), stack }));
    for line in text.code.iter().chain(&text.compiled) {
        ui.add(egui::Label::new(theme::muted(ui, line.as_str()).monospace().size(11.0)).wrap());
    }
}
