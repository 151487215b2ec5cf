//! The keyboard: one table that is listened to and shown as help.

use crate::app::device::DeviceState;
use crate::app::navigation::Selection;
use crate::app::tables::virtual_list;
use crate::app::{App, Command};
use eframe::egui::{self, Key, Modifiers};

/// Events that Shift and an arrow step over.
const LONG_STEP: i64 = 100;

/// How much a key zooms, and which part of the view it pans.
const ZOOM: f64 = 1.5;
const PAN: f64 = 0.15;

/// What a shortcut does it to.
pub(super) enum Run {
    /// The whole window.
    Window(fn(&mut App)),
    /// The device that is shown.
    Device(fn(&mut DeviceState)),
}

/// A key and what it does.
pub(super) struct Shortcut {
    modifiers: Modifiers,
    key: Key,
    /// How the help names the key; empty where another entry speaks for it.
    pub(super) name: &'static str,
    /// What the help says.
    pub(super) does: &'static str,
    run: Run,
}

const fn key(modifiers: Modifiers, key: Key, name: &'static str, does: &'static str, run: Run) -> Shortcut {
    Shortcut { modifiers, key, name, does, run }
}

/// Every shortcut. Longer combinations come first: a key without modifiers also matches with them.
pub(super) const SHORTCUTS: &[Shortcut] = &[
    key(
        Modifiers::COMMAND,
        Key::O,
        "Ctrl+O",
        "open snapshots",
        Run::Window(|app| app.commands.push(Command::OpenDialog)),
    ),
    key(Modifiers::CTRL.plus(Modifiers::SHIFT), Key::Tab, "", "", Run::Window(|app| app.show_tab(-1))),
    key(
        Modifiers::CTRL,
        Key::Tab,
        "Ctrl+Tab, Ctrl+Shift+Tab",
        "next file, file before",
        Run::Window(|app| app.show_tab(1)),
    ),
    key(
        Modifiers::COMMAND,
        Key::W,
        "Ctrl+W",
        "close the file",
        Run::Window(|app| app.commands.push(Command::Close(app.current))),
    ),
    key(
        Modifiers::ALT,
        Key::ArrowLeft,
        "Alt+Left",
        "back to the place before",
        Run::Device(DeviceState::back),
    ),
    key(Modifiers::ALT, Key::ArrowRight, "Alt+Right", "forward again", Run::Device(DeviceState::forward)),
    key(Modifiers::SHIFT, Key::ArrowLeft, "", "", Run::Device(|device| device.step(-LONG_STEP))),
    key(
        Modifiers::SHIFT,
        Key::ArrowRight,
        "Shift+Left, Right",
        "100 events back or on",
        Run::Device(|device| device.step(LONG_STEP)),
    ),
    key(Modifiers::NONE, Key::ArrowLeft, "", "", Run::Device(|device| device.step(-1))),
    key(
        Modifiers::NONE,
        Key::ArrowRight,
        "Left, Right",
        "one event back or on",
        Run::Device(|device| device.step(1)),
    ),
    key(Modifiers::NONE, Key::Home, "", "", Run::Device(|device| device.step(i64::MIN))),
    key(
        Modifiers::NONE,
        Key::End,
        "Home, End",
        "before the first event, after the last",
        Run::Device(|device| device.step(i64::MAX)),
    ),
    key(Modifiers::NONE, Key::P, "P", "go to the peak", Run::Device(DeviceState::go_to_peak)),
    key(
        Modifiers::NONE,
        Key::O,
        "O",
        "go to the next out-of-memory event",
        Run::Device(DeviceState::go_to_oom),
    ),
    key(
        Modifiers::NONE,
        Key::M,
        "M",
        "mark the cursor as the start of ranges of stacks",
        Run::Device(DeviceState::set_mark),
    ),
    key(Modifiers::NONE, Key::F, "F", "show everything", Run::Device(DeviceState::fit)),
    key(Modifiers::NONE, Key::W, "", "", Run::Device(|device| device.zoom(ZOOM))),
    key(
        Modifiers::NONE,
        Key::S,
        "W, S",
        "zoom in or out at the cursor",
        Run::Device(|device| device.zoom(1.0 / ZOOM)),
    ),
    key(Modifiers::NONE, Key::A, "", "", Run::Device(|device| device.pan(-PAN))),
    key(
        Modifiers::NONE,
        Key::D,
        "A, D",
        "move the view left or right",
        Run::Device(|device| device.pan(PAN)),
    ),
    key(
        Modifiers::NONE,
        Key::Z,
        "Z",
        "zoom to the lifetime of the selected allocation",
        Run::Device(zoom_to_selected),
    ),
    key(
        Modifiers::NONE,
        Key::Slash,
        "/",
        "write a filter",
        Run::Device(|device| device.panels.filter.wants_focus = true),
    ),
    key(
        Modifiers::NONE,
        Key::Escape,
        "Esc",
        "select nothing",
        Run::Device(|device| device.select(Selection::None)),
    ),
    key(
        Modifiers::NONE,
        Key::Questionmark,
        "?",
        "show or hide this help",
        Run::Window(|app| app.shows_help = !app.shows_help),
    ),
    key(
        Modifiers::NONE,
        Key::F5,
        "F5",
        "load the file again",
        Run::Window(|app| app.commands.push(Command::Reload(app.current))),
    ),
    key(Modifiers::NONE, Key::F1, "", "", Run::Window(|app| app.shows_help = !app.shows_help)),
];

/// What the mouse does, for the help.
pub(super) const MOUSE: [(&str, &str); 7] = [
    ("Wheel", "zoom at the pointer"),
    ("Shift+wheel", "zoom vertically, scroll through segments"),
    ("Drag", "move the view"),
    ("Shift+drag", "zoom to a box"),
    ("Click", "select, and put the cursor there"),
    ("Double click", "zoom to a lifetime, or show everything"),
    ("Drag the axis", "scrub the cursor"),
];

pub(super) fn listen(ctx: &egui::Context, app: &mut App) {
    if app.shows_help && ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
        app.shows_help = false;
    }
    let is_typing = ctx.text_edit_focused();
    let is_in_list = virtual_list::has_focus(ctx);
    for shortcut in SHORTCUTS {
        // Plain keys are text while text is edited, and lists have a start and an end of their own.
        let is_plain = !shortcut.modifiers.command && !shortcut.modifiers.ctrl;
        let is_of_list = matches!(shortcut.key, Key::Home | Key::End);
        if (is_typing && is_plain) || (is_in_list && is_of_list) {
            continue;
        }
        if ctx.input_mut(|input| consume(input, shortcut)) {
            run(app, &shortcut.run);
        }
    }
}

fn consume(input: &mut egui::InputState, shortcut: &Shortcut) -> bool {
    // On most keyboards this key needs Shift.
    let is_shifted = shortcut.key == Key::Questionmark && input.consume_key(Modifiers::SHIFT, shortcut.key);
    is_shifted || input.consume_key(shortcut.modifiers, shortcut.key)
}

fn run(app: &mut App, what: &Run) {
    match what {
        Run::Window(run) => run(app),
        Run::Device(run) => {
            let document = app.documents.get_mut(app.current);
            if let Some(device) = document.and_then(|document| document.open_file()?.device()) {
                run(device);
            }
        }
    }
}

fn zoom_to_selected(device: &mut DeviceState) {
    if let Some(id) = device.selected() {
        device.zoom_to_lifetime(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_shortcuts_share_a_key() {
        for (i, a) in SHORTCUTS.iter().enumerate() {
            for b in &SHORTCUTS[i + 1..] {
                assert!((a.modifiers, a.key) != (b.modifiers, b.key), "{:?} {:?}", a.modifiers, a.key);
            }
        }
    }

    #[test]
    fn longer_combinations_come_first() {
        let plain = SHORTCUTS.iter().position(|shortcut| shortcut.modifiers.is_none());
        let last_long = SHORTCUTS.iter().rposition(|shortcut| !shortcut.modifiers.is_none());
        assert!(last_long < plain);
    }
}
