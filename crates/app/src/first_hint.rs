//! What a picture means, in four sentences, for who opens the window for the first time.

use crate::texts::{self, marked};
use eframe::egui::{self, Align2, Id, Label, Window};
use tr::tr;

/// Width of the text, in points.
const WIDTH_PX: f32 = 430.0;

/// Distance from the corner of the window, in points: the status bar stays in sight.
const AWAY_PX: egui::Vec2 = egui::vec2(16.0, -40.0);

const SENTENCES: [&str; 4] = [
    marked!("What the verdict is about keeps its colours, and the rest is faded; V shows all alike."),
    marked!(
        "Allocated is what tensors use, active has what waits for another stream besides, and reserved is what PyTorch took from the device."
    ),
    marked!(
        "Behind a failure, the dashed line is how the step would have gone on, and the line with an edge is the program with the fix."
    ),
    marked!("The wheel zooms, a click selects, Ctrl+K searches all commands, and ? lists the keys."),
];

/// Show it until it is dismissed.
pub(super) fn ui(ctx: &egui::Context, is_shown: &mut bool) {
    if !*is_shown {
        return;
    }
    let window = Window::new(tr!("Reading the picture"))
        .id(Id::unique("reading the picture"))
        .collapsible(false)
        .resizable(false);
    window.anchor(Align2::LEFT_BOTTOM, AWAY_PX).show(ctx, |ui| {
        ui.set_max_width(WIDTH_PX);
        for sentence in SENTENCES {
            ui.add(Label::new(texts::translated(sentence)).wrap());
            ui.add_space(2.0);
        }
        if ui.button(tr!("Got it")).clicked() {
            *is_shown = false;
        }
    });
}
