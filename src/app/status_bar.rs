//! The totals at the cursor.

use super::device::DeviceState;
use super::theme;
use crate::units;
use eframe::egui;

pub(super) fn ui(ui: &mut egui::Ui, device: &DeviceState) {
    ui.horizontal_centered(|ui| {
        ui.label(theme::muted(ui, text(device)));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let keys = "wheel zooms · drag pans · arrows step · P peak · O OOM · F fit · ? help";
            if let Some(notice) = &device.notice {
                ui.add(egui::Label::new(egui::RichText::new(notice).size(12.0)).truncate());
                return;
            }
            ui.add(egui::Label::new(theme::muted(ui, keys).size(11.0)).truncate());
        });
    });
}

fn text(device: &DeviceState) -> String {
    let (timeline, cursor) = (device.timeline(), device.cursor);
    let events = units::count(timeline.events.len() as u64);
    let mut parts = vec![match cursor.event() {
        None if timeline.events.is_empty() => "no events".to_owned(),
        None => format!("before event 0 of {events}"),
        Some(event) => format!("after event {} of {events}", units::count(event.0)),
    }];
    parts.extend(cursor.event().and_then(|event| device.time_of(event)).map(units::duration_us));
    parts.push(format!("allocated {}", units::bytes(timeline.allocated.at(cursor))));
    parts.push(format!("active {}", units::bytes(timeline.active.at(cursor))));
    parts.push(format!("reserved {}", units::bytes(timeline.reserved.at(cursor))));
    parts.join(" · ")
}
