//! An open file: notices, header, panes, status.

use super::devices;
use super::open_file::{Notice, OpenFile};
use crate::command::Command;
use crate::device::{Derived, Standpoint, Wish};
use crate::panes::{Layout, OpenDevice};
use crate::report_view::fold_ui;
use crate::{filter, header, status_bar, theme, timeline};
use eframe::egui::{self, CentralPanel, Panel};
use oomscope_model::Recording;
use tr::tr;

/// Height of the status bar, in points.
const STATUS_PX: f32 = 24.0;

/// Height of a file's page, in points, below which what is not a view gives way: the header to one line, notices to one each, and the
/// status bar to the views while it has no message.
const LOW_PX: f32 = 400.0;

/// Room for the button that dismisses a notice, in points.
const DISMISS_PX: f32 = 84.0;

pub(crate) fn ui(ui: &mut egui::Ui, file: &mut OpenFile, layout: &mut Layout) {
    let is_low = ui.available_height() < LOW_PX;
    for (i, notice) in file.notices.iter().enumerate() {
        notice_ui(ui, i, notice, is_low);
    }
    devices::ui(ui, &file.devices, &file.sparks, &mut file.current);
    let Some(device) = file.device() else {
        CentralPanel::default().show(ui, |ui| {
            ui.label(tr!("This snapshot holds no memory of any device."));
        });
        return;
    };
    // Before anything is drawn, so that the header and all panes show the same state.
    device.derived.update(ui.ctx(), device.at.report_at);
    if let Some(future) = device.derived.future() {
        device.at.go_on(future);
    }
    device.at.show_tried();
    device.at.mark_verdict(device.derived.verdict().and_then(|verdict| verdict.marked.as_ref()));
    let OpenDevice { recording, derived, at, .. } = device;
    Panel::top("header").resizable(false).frame(theme::panel_frame(ui, 0, 0)).show(ui, |ui| {
        let wanted = header::ui(ui, recording, derived, at, is_low);
        device.wish = wanted.map(Wish::Show).or(device.wish);
    });
    Panel::top("tools")
        .exact_size(filter::bar::HEIGHT_PX)
        .resizable(false)
        .frame(theme::panel_frame(ui, 10, 0))
        .show(ui, |ui| tools_ui(ui, recording, derived, at, &mut device.filter));
    if !is_low || device.notice.is_some() {
        let status = Panel::bottom("status").exact_size(STATUS_PX).resizable(false);
        status.frame(theme::panel_frame(ui, 12, 2)).show(ui, |ui| {
            status_bar::ui(ui, recording, derived, at, &device.title, &mut device.notice);
        });
    }
    let frame = egui::Frame::NONE.fill(theme::color(theme::palette(ui).line));
    CentralPanel::default().frame(frame).show(ui, |ui| layout.ui(ui, device));
    device.note_ui(ui.ctx());
}

/// One line of tools: those of the timeline, and the filter.
fn tools_ui(
    ui: &mut egui::Ui,
    recording: &Recording,
    derived: &mut Derived,
    at: &mut Standpoint,
    filter: &mut filter::bar::State,
) {
    ui.horizontal_centered(|ui| {
        if derived.figures.has_history {
            timeline::toolbar::ui(ui, at, recording.times.has_times());
        }
        filter::bar::ui(ui, recording, derived, at, filter);
    });
}

fn notice_ui(ui: &mut egui::Ui, salt: impl std::fmt::Display, notice: &Notice, is_low: bool) {
    Panel::top(format!("notice {salt}")).resizable(false).frame(notice_frame(ui)).show(ui, |ui| {
        let label = egui::Label::new(&notice.text);
        ui.add(if is_low { label.truncate() } else { label.wrap() });
        if !is_low && !notice.stand_ins.is_empty() {
            fold_ui(ui, theme::small(tr!("What stands in for values that are not known")), |ui| {
                for text in &notice.stand_ins {
                    ui.add(egui::Label::new(theme::small(text)).wrap());
                }
            });
        }
    });
}

/// A notice of the window itself, with a button that dismisses it.
pub(crate) fn dismissible_ui(ui: &mut egui::Ui, text: &str, commands: &mut Vec<Command>) {
    Panel::bottom("notice of the window").resizable(false).frame(notice_frame(ui)).show(ui, |ui| {
        ui.horizontal_top(|ui| {
            let text_px = ui.available_width() - DISMISS_PX;
            ui.vertical(|ui| {
                ui.set_width(text_px);
                ui.add(egui::Label::new(text).wrap());
            });
            if ui.button(tr!("Dismiss")).clicked() {
                commands.push(Command::DismissNotice);
            }
        });
    });
}

/// The frame of a notice.
pub(crate) fn notice_frame(ui: &egui::Ui) -> egui::Frame {
    let palette = theme::palette(ui);
    theme::panel_frame(ui, 12, 6).fill(theme::color(palette.warning()))
}
