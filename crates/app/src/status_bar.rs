//! The bottom line: the place of the cursor, and facts about the recording or the latest message.

use crate::device::{Derived, Standpoint};
use crate::theme;
use eframe::egui::{self, Label};
use oomscope_model::{Bytes, Recording, TrustedBytes};
use oomscope_units as units;
use tr::tr;

/// Time for which a message is shown, in seconds: enough to read two lines.
const MESSAGE_S: f64 = 12.0;

/// Show the line. A message gives way to the facts after a while.
pub(super) fn ui(
    ui: &mut egui::Ui,
    recording: &Recording,
    derived: &Derived,
    at: &mut Standpoint,
    title: &str,
    notice: &mut Option<String>,
) {
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = 5.0;
        if let Some(text) = notice.clone() {
            if has_expired(ui, &text) {
                *notice = None;
            }
            ui.add(Label::new(theme::small(text)).truncate());
            return;
        }
        // The same message may come again, and is to be shown as long then.
        ui.data_mut(|data| data.remove_temp::<(String, f64)>(message_id()));
        let events = recording.events.len() as u64;
        let place = match at.cursor.event() {
            Some(event) => tr!("event {} of {}", units::count(event.0), units::count(events)),
            None => tr!("before event 0 of {}", units::count(events)),
        };
        ui.label(theme::muted(ui, format!("{title} · {} · {place} ·", recording.device)));
        jumps_ui(ui, recording, derived, at);
        facts_ui(ui, recording, derived);
    });
}

/// The place of the message that is shown, with the time since when it is.
fn message_id() -> egui::Id {
    egui::Id::unique("message of the status bar")
}

/// True once a message has been there for a while.
fn has_expired(ui: &egui::Ui, text: &str) -> bool {
    let id = message_id();
    let now_s = ui.input(|input| input.time);
    let known: Option<(String, f64)> = ui.data(|data| data.get_temp(id));
    let since_s = known.filter(|(known, _)| known == text).map_or(now_s, |(_, since_s)| since_s);
    ui.data_mut(|data| data.insert_temp(id, (text.to_owned(), since_s)));
    ui.request_repaint_after(std::time::Duration::from_secs_f64(MESSAGE_S));
    MESSAGE_S <= now_s - since_s
}

/// Figures that lead to their moments.
fn jumps_ui(ui: &mut egui::Ui, recording: &Recording, derived: &Derived, at: &mut Standpoint) {
    let (_, peak) = derived.figures.peak;
    ui.label(theme::muted(ui, tr!("peak active")));
    if ui
        .link(peak.written(units::bytes))
        .on_hover_text(trusted_hint(peak, &tr!("Go to the peak (P)")))
        .clicked()
    {
        at.go_to_peak();
    }
    if !recording.ooms.is_empty() {
        ui.label(theme::muted(ui, "·"));
        if ui.link(tr!("go to OOM")).on_hover_text(tr!("Go to the next out-of-memory event (O)")).clicked() {
            at.go_to_oom();
        }
    }
    let (reserved_at, reserved) = derived.figures.reserved_peak;
    ui.label(theme::muted(ui, format!("· {}", tr!("peak reserved"))));
    let meaning = tr!("Most bytes reserved from the driver. Go there");
    if ui.link(reserved.written(units::bytes)).on_hover_text(trusted_hint(reserved, &meaning)).clicked() {
        at.go_to(reserved_at);
    }
}

/// What else is known of the recording; the last is cut where there is no room.
fn facts_ui(ui: &mut egui::Ui, recording: &Recording, derived: &Derived) {
    if let Some(capacity) = derived.capacity() {
        ui.label(theme::muted(ui, format!("· {}", tr!("capacity"))));
        ui.label(units::bytes(capacity)).on_hover_text(hint(capacity, &derived.capacity_meaning()));
    }
    let baseline = match derived.figures.baseline {
        Some(baseline) => tr!("{} active before recording", units::bytes(baseline)),
        None => tr!("active before recording unknown"),
    };
    let settings = &derived.figures.settings;
    let settings_text = match (settings.is_empty(), recording.snapshot().settings.is_empty()) {
        (false, _) => settings.join("  "),
        (true, false) => tr!("default settings"),
        (true, true) => tr!("settings not recorded"),
    };
    let text = theme::muted(ui, format!("· {baseline} · {settings_text}"));
    ui.add(Label::new(text).truncate()).on_hover_text(settings.join("\n"));
}

fn hint(bytes: Bytes, meaning: &str) -> String {
    format!("{meaning}\n{}", units::bytes_exact(bytes))
}

fn trusted_hint(bytes: TrustedBytes, meaning: &str) -> String {
    format!("{meaning}\n{}", bytes.written(units::bytes_exact))
}
