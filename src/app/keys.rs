//! The keyboard: one table that gives keys their meaning and is shown as help.

use crate::app::command::Command;
use crate::app::device::Selection;
use crate::app::export::ExportChoice;
use crate::app::panes::OpenDevice;
use crate::app::tables::virtual_list;
use eframe::egui::{self, Key, Modifiers};

/// Events that Shift and an arrow step over: the help names the number.
const LONG_STEP: i64 = 100;

/// Factor by which a key zooms: two presses about double the scale.
const ZOOM_FACTOR: f64 = 1.5;

/// Share of the view by which a key pans: most of the view stays in sight.
const PAN_SHARE: f64 = 0.15;

/// The effect of a shortcut.
pub(super) enum KeyAction {
    /// The whole window.
    Window(Command),
    /// Closes the file that is shown.
    CloseShown,
    /// Loads the file that is shown again.
    ReloadShown,
    /// The device that is shown.
    Device(fn(&mut OpenDevice)),
}

/// A key and its effect.
pub(super) struct Shortcut {
    modifiers: Modifiers,
    key: Key,
    /// The key's name in the help; empty if another entry names it, too.
    pub(super) name: &'static str,
    /// The explanation in the help.
    pub(super) does: &'static str,
    action: KeyAction,
}

const fn key(
    modifiers: Modifiers,
    key: Key,
    name: &'static str,
    does: &'static str,
    action: KeyAction,
) -> Shortcut {
    Shortcut { modifiers, key, name, does, action }
}

/// Every shortcut. Longer combinations come first: a key without modifiers also matches with them.
pub(super) const SHORTCUTS: &[Shortcut] = &[
    key(Modifiers::COMMAND, Key::O, "Ctrl+O", "open snapshots", KeyAction::Window(Command::OpenDialog)),
    key(Modifiers::CTRL.plus(Modifiers::SHIFT), Key::Tab, "", "", KeyAction::Window(Command::ShowNext(-1))),
    key(
        Modifiers::CTRL,
        Key::Tab,
        "Ctrl+Tab, Ctrl+Shift+Tab",
        "next file, file before",
        KeyAction::Window(Command::ShowNext(1)),
    ),
    key(
        Modifiers::COMMAND.plus(Modifiers::SHIFT),
        Key::E,
        "",
        "",
        KeyAction::Window(Command::CopyPicture(ExportChoice::TIMELINE)),
    ),
    key(
        Modifiers::COMMAND,
        Key::E,
        "Ctrl+E, Ctrl+Shift+E",
        "export the timeline, copy it as a picture",
        KeyAction::Window(Command::Export(ExportChoice::TIMELINE)),
    ),
    key(Modifiers::COMMAND, Key::W, "Ctrl+W", "close the file", KeyAction::CloseShown),
    key(
        Modifiers::ALT,
        Key::ArrowLeft,
        "Alt+Left",
        "back to the place before",
        KeyAction::Device(|device| device.at.back()),
    ),
    key(
        Modifiers::ALT,
        Key::ArrowRight,
        "Alt+Right",
        "forward again",
        KeyAction::Device(|device| device.at.forward()),
    ),
    key(Modifiers::SHIFT, Key::ArrowLeft, "", "", KeyAction::Device(|device| device.at.step(-LONG_STEP))),
    key(
        Modifiers::SHIFT,
        Key::ArrowRight,
        "Shift+Left, Right",
        "100 events back or on",
        KeyAction::Device(|device| device.at.step(LONG_STEP)),
    ),
    key(Modifiers::NONE, Key::ArrowLeft, "", "", KeyAction::Device(|device| device.at.step(-1))),
    key(
        Modifiers::NONE,
        Key::ArrowRight,
        "Left, Right",
        "one event back or on",
        KeyAction::Device(|device| device.at.step(1)),
    ),
    key(Modifiers::NONE, Key::Home, "", "", KeyAction::Device(|device| device.at.step(i64::MIN))),
    key(
        Modifiers::NONE,
        Key::End,
        "Home, End",
        "before the first event, after the last",
        KeyAction::Device(|device| device.at.step(i64::MAX)),
    ),
    key(Modifiers::NONE, Key::P, "P", "go to the peak", KeyAction::Device(|device| device.at.go_to_peak())),
    key(
        Modifiers::NONE,
        Key::O,
        "O",
        "go to the next out-of-memory event",
        KeyAction::Device(|device| device.at.go_to_oom()),
    ),
    key(
        Modifiers::NONE,
        Key::M,
        "M",
        "mark the cursor as the start of ranges of stacks",
        KeyAction::Device(OpenDevice::set_mark),
    ),
    key(Modifiers::NONE, Key::F, "F", "show everything", KeyAction::Device(|device| device.at.fit())),
    key(Modifiers::NONE, Key::W, "", "", KeyAction::Device(|device| device.at.zoom(ZOOM_FACTOR))),
    key(
        Modifiers::NONE,
        Key::S,
        "W, S",
        "zoom in or out at the cursor",
        KeyAction::Device(|device| device.at.zoom(1.0 / ZOOM_FACTOR)),
    ),
    key(Modifiers::NONE, Key::A, "", "", KeyAction::Device(|device| device.at.pan(-PAN_SHARE))),
    key(
        Modifiers::NONE,
        Key::D,
        "A, D",
        "move the view left or right",
        KeyAction::Device(|device| device.at.pan(PAN_SHARE)),
    ),
    key(
        Modifiers::NONE,
        Key::Z,
        "Z",
        "zoom to the lifetime of the selected allocation",
        KeyAction::Device(zoom_to_selected),
    ),
    key(
        Modifiers::NONE,
        Key::Slash,
        "/",
        "write a filter",
        KeyAction::Device(|device| device.states.filter.wants_focus = true),
    ),
    key(
        Modifiers::NONE,
        Key::Escape,
        "Esc",
        "select nothing",
        KeyAction::Device(|device| device.at.select(Selection::None)),
    ),
    key(Modifiers::NONE, Key::Questionmark, "?", "show or hide this help", KeyAction::Window(Command::Help)),
    key(Modifiers::NONE, Key::F5, "F5", "load the file again", KeyAction::ReloadShown),
    key(Modifiers::NONE, Key::F1, "", "", KeyAction::Window(Command::Help)),
];

/// The meaning of the mouse, for the help.
pub(super) const MOUSE: [(&str, &str); 7] = [
    ("Wheel", "zoom at the pointer"),
    ("Shift+wheel", "zoom vertically, scroll through segments"),
    ("Drag", "move the view"),
    ("Shift+drag", "zoom to a box"),
    ("Click", "select, and put the cursor there"),
    ("Double click", "zoom to a lifetime, or show everything"),
    ("Drag the axis", "scrub the cursor"),
];

/// True if Escape was pressed. Nothing else is told of it then.
pub(super) fn take_escape(ctx: &egui::Context) -> bool {
    ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape))
}

/// The actions of the keys that were pressed.
pub(super) fn pressed(ctx: &egui::Context) -> Vec<&'static KeyAction> {
    let is_typing = ctx.text_edit_focused();
    let is_in_list = virtual_list::has_focus(ctx);
    let is_pressed = |shortcut: &&Shortcut| {
        // Plain keys are text while text is edited, and lists have a start and an end of their own.
        let is_plain = !shortcut.modifiers.command && !shortcut.modifiers.ctrl;
        let is_of_list = matches!(shortcut.key, Key::Home | Key::End);
        let is_taken = (is_typing && is_plain) || (is_in_list && is_of_list);
        !is_taken && ctx.input_mut(|input| consume(input, shortcut))
    };
    SHORTCUTS.iter().filter(is_pressed).map(|shortcut| &shortcut.action).collect()
}

fn consume(input: &mut egui::InputState, shortcut: &Shortcut) -> bool {
    // Most keyboards need Shift for a question mark.
    let is_shifted = shortcut.key == Key::Questionmark && input.consume_key(Modifiers::SHIFT, shortcut.key);
    is_shifted || input.consume_key(shortcut.modifiers, shortcut.key)
}

fn zoom_to_selected(device: &mut OpenDevice) {
    if let Some(id) = device.at.selected_allocation() {
        device.at.zoom_to_lifetime(id);
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
