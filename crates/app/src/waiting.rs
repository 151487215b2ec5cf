//! A line about work that takes long: how far it is, with a button that stops it, or one that starts it again.

use crate::theme;
use crate::work::background::Background;
use crate::work::worker::Task;
use eframe::egui::{self, ProgressBar};
use std::time::Duration;
use tr::tr;

/// Time between two looks at the progress: short enough for the user.
const TICK: Duration = Duration::from_millis(100);

/// Width of the bar, in points.
const BAR_PX: f32 = 160.0;

/// The line about the answer to a question that is on its way, or was stopped.
pub(super) fn ui<T: Task>(
    ui: &mut egui::Ui,
    doing: &str,
    background: &mut Background<T>,
    request: &T::Request,
) {
    ui.horizontal_wrapped(|ui| {
        if background.is_cancelled(request) {
            ui.label(theme::muted(ui, tr!("Stopped: {doing}", doing)));
            if ui.button(tr!("Go on")).clicked() {
                background.resume();
            }
            return;
        }
        ui.ctx().request_repaint_after(TICK);
        // First, so that it does not move away from the pointer as the text grows.
        if ui.button(tr!("Stop")).clicked() {
            background.cancel(request);
        }
        if let Some((done, total)) = background.progress() {
            let share = done as f32 / total.max(1) as f32;
            ui.add(ProgressBar::new(share).desired_width(BAR_PX).desired_height(8.0));
            ui.label(theme::muted(ui, tr!("{doing}: {done} of {total}", doing, done, total)));
        } else {
            ui.spinner();
            ui.label(theme::muted(ui, format!("{doing} …")));
        }
    });
}
