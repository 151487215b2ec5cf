//! The keyboard.

use super::navigation::Selection;
use super::{App, Command};
use eframe::egui::{self, Key, Modifiers};

/// Events that Shift and an arrow step over.
const LONG_STEP: i64 = 100;

pub(super) fn listen(ctx: &egui::Context, app: &mut App) {
    if ctx.input_mut(|input| input.consume_key(Modifiers::COMMAND, Key::O)) {
        app.commands.push(Command::OpenDialog);
    }
    if ctx.text_edit_focused() {
        return;
    }
    let document = app.documents.get_mut(app.current);
    let Some(device) = document.and_then(|document| document.open_file()?.device()) else { return };
    // Longer combinations first: a key without modifiers also matches with them.
    let pressed = |modifiers, key| ctx.input_mut(|input| input.consume_key(modifiers, key));
    if pressed(Modifiers::ALT, Key::ArrowLeft) {
        device.back();
    }
    if pressed(Modifiers::ALT, Key::ArrowRight) {
        device.forward();
    }
    for (key, by) in [(Key::ArrowLeft, -1), (Key::ArrowRight, 1)] {
        if pressed(Modifiers::SHIFT, key) {
            device.step(by * LONG_STEP);
        }
        if pressed(Modifiers::NONE, key) {
            device.step(by);
        }
    }
    if pressed(Modifiers::NONE, Key::Home) {
        device.step(i64::from(i32::MIN));
    }
    if pressed(Modifiers::NONE, Key::End) {
        device.step(i64::from(u32::MAX));
    }
    if pressed(Modifiers::NONE, Key::P) {
        device.go_to_peak();
    }
    if pressed(Modifiers::NONE, Key::O) {
        device.go_to_oom();
    }
    if pressed(Modifiers::NONE, Key::F) {
        device.fit();
    }
    if pressed(Modifiers::NONE, Key::Escape) {
        device.select(Selection::None);
    }
}
