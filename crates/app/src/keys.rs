//! The keyboard: one table that gives keys their meaning, is shown as help, and names commands in their search.

use crate::command::Command;
use crate::device::PaneId;
use crate::export::ExportChoice;
use crate::focus;
use crate::panes::{self, OpenDevice};
use crate::tables::virtual_list;
use crate::text_size::TextSize;
use crate::texts::marked;
use eframe::egui::{self, Event, Key, KeyboardShortcut, ModifierNames, Modifiers};
use oomscope_draw::ColorBy;
use tr::tr;

/// Events that Shift and an arrow step over: the help names the number.
const LONG_STEP: i64 = 100;

/// Factor by which a key zooms: two presses about double the scale.
const ZOOM_FACTOR: f64 = 1.5;

/// Share of the view by which a key pans: most of the view stays in sight.
const PAN_SHARE: f64 = 0.15;

/// The effect of a command.
#[derive(Debug, Clone)]
pub(super) enum KeyAction {
    /// The whole window.
    Window(Command),
    /// Closes the file that is shown.
    CloseShown,
    /// Loads the file that is shown again.
    ReloadShown,
    /// Brings a pane of the tray to the front, by its place there.
    Tray(usize),
    /// Brings a pane to the front.
    Pane(PaneId),
    /// Shows another property as colours.
    ColorBy(ColorBy),
    /// Shows another device of the file, by its place there.
    ShowDevice(usize),
    /// Copies a link to what is shown.
    LinkShown,
    /// The device that is shown.
    Device(fn(&mut OpenDevice)),
}

use KeyAction::{CloseShown, Device, LinkShown, ReloadShown, Tray, Window};

/// A key and its effect.
pub(super) struct Shortcut {
    modifiers: Modifiers,
    key: Key,
    /// The command's name; empty if a key has no command of its own.
    pub(super) does: &'static str,
    /// Other words to find it by.
    pub(super) also: &'static str,
    /// The line of the help, if neighbours in the table share one.
    shared: &'static str,
    pub(super) action: KeyAction,
}

impl Shortcut {
    const fn also(mut self, also: &'static str) -> Self {
        self.also = also;
        self
    }

    const fn shared(mut self, shared: &'static str) -> Self {
        self.shared = shared;
        self
    }

    /// The line of the help that explains the key.
    fn help(&self) -> &'static str {
        if self.shared.is_empty() { self.does } else { self.shared }
    }

    /// The key's name.
    pub(super) fn keys(&self) -> String {
        let symbol = match self.key {
            Key::Minus => "-",
            key if key.symbol_or_name().is_ascii() => key.symbol_or_name(),
            key => key.name(),
        };
        let is_mac = cfg!(target_os = "macos");
        // The format ends with the key's name.
        let all = KeyboardShortcut::new(self.modifiers, self.key).format(&ModifierNames::NAMES, is_mac);
        format!("{}{symbol}", all.strip_suffix(self.key.name()).unwrap_or_default())
    }
}

const NONE: Modifiers = Modifiers::NONE;
const SHIFT: Modifiers = Modifiers::SHIFT;
const COMMAND: Modifiers = Modifiers::COMMAND;

const fn key(modifiers: Modifiers, key: Key, does: &'static str, action: KeyAction) -> Shortcut {
    Shortcut { modifiers, key, does, also: "", shared: "", action }
}

const fn tray(at: usize, digit: Key) -> Shortcut {
    key(NONE, digit, "", Tray(at)).shared(marked!("bring a pane of the tray to the front"))
}

const FILES: &str = marked!("file before, next file");
const EXPORT: &str = marked!("copy the timeline as a picture, export it");
const LONG_STEPS: &str = marked!("100 events back or on");
const STEPS: &str = marked!("one event back or on");
const ENDS: &str = marked!("before the first event, after the last");
const ZOOM: &str = marked!("zoom in or out at the cursor");
const PAN: &str = marked!("move the view left or right");
const TEXT: &str = marked!("larger or smaller text");

/// Every shortcut, in the order of the help. Of two with the same key, that with more modifiers comes first: a
/// key without Shift also matches with it.
pub(super) const SHORTCUTS: &[Shortcut] = &[
    key(COMMAND, Key::K, marked!("search all commands"), Window(Command::SearchCommands)),
    key(COMMAND, Key::P, marked!("search all commands"), Window(Command::SearchCommands)),
    key(COMMAND, Key::O, marked!("open snapshots"), Window(Command::OpenDialog)).also(marked!("file load")),
    key(Modifiers::CTRL.plus(SHIFT), Key::Tab, marked!("file before"), Window(Command::ShowNext(-1)))
        .shared(FILES),
    key(Modifiers::CTRL, Key::Tab, marked!("next file"), Window(Command::ShowNext(1))).shared(FILES),
    key(
        COMMAND.plus(SHIFT),
        Key::E,
        marked!("copy the timeline as a picture"),
        Window(Command::CopyPicture(ExportChoice::TIMELINE)),
    )
    .shared(EXPORT),
    key(COMMAND, Key::E, marked!("export the timeline"), Window(Command::Export(ExportChoice::TIMELINE)))
        .shared(EXPORT),
    key(COMMAND, Key::W, marked!("close the file"), CloseShown).also(marked!("tab")),
    key(NONE, Key::F5, marked!("load the file again"), ReloadShown).also(marked!("reload refresh")),
    key(Modifiers::ALT, Key::ArrowLeft, marked!("back to the place before"), Device(|d| d.at.back()))
        .also(marked!("undo")),
    key(Modifiers::ALT, Key::ArrowRight, marked!("forward again"), Device(|d| d.at.forward()))
        .also(marked!("redo")),
    key(SHIFT, Key::ArrowLeft, marked!("100 events back"), Device(|d| d.at.step(-LONG_STEP)))
        .shared(LONG_STEPS),
    key(SHIFT, Key::ArrowRight, marked!("100 events on"), Device(|d| d.at.step(LONG_STEP)))
        .shared(LONG_STEPS),
    key(NONE, Key::ArrowLeft, marked!("one event back"), Device(|d| d.at.step(-1))).shared(STEPS),
    key(NONE, Key::ArrowRight, marked!("one event on"), Device(|d| d.at.step(1))).shared(STEPS),
    key(NONE, Key::Home, marked!("before the first event"), Device(|d| d.at.step(i64::MIN))).shared(ENDS),
    key(NONE, Key::End, marked!("after the last event"), Device(|d| d.at.step(i64::MAX))).shared(ENDS),
    key(NONE, Key::P, marked!("go to the peak"), Device(|d| d.at.go_to_peak())),
    key(NONE, Key::O, marked!("go to the next out-of-memory event"), Device(|d| d.at.go_to_oom()))
        .also(marked!("oom error")),
    key(
        NONE,
        Key::M,
        marked!("mark the cursor as the start of ranges of stacks"),
        Device(OpenDevice::set_mark),
    ),
    key(NONE, Key::N, marked!("write a note about this place"), Device(OpenDevice::begin_note))
        .also(marked!("bookmark")),
    key(NONE, Key::L, marked!("copy a link to this view, as a command"), LinkShown)
        .also(marked!("share go url")),
    key(NONE, Key::V, marked!("mark what the verdict is about, or show all alike"), Device(mark_verdict))
        .also(marked!("finding highlight fade")),
    key(NONE, Key::F, marked!("show everything"), Device(|d| d.at.fit())).also(marked!("fit zoom all")),
    key(
        NONE,
        Key::Y,
        marked!("fit the height to what is in view, or not"),
        Device(|d| d.at.toggle_fit_height()),
    ),
    key(NONE, Key::W, marked!("zoom in at the cursor"), Device(|d| d.at.zoom(ZOOM_FACTOR))).shared(ZOOM),
    key(NONE, Key::S, marked!("zoom out at the cursor"), Device(|d| d.at.zoom(1.0 / ZOOM_FACTOR)))
        .shared(ZOOM),
    key(NONE, Key::A, marked!("move the view left"), Device(|d| d.at.pan(-PAN_SHARE)))
        .shared(PAN)
        .also(marked!("pan")),
    key(NONE, Key::D, marked!("move the view right"), Device(|d| d.at.pan(PAN_SHARE)))
        .shared(PAN)
        .also(marked!("pan")),
    key(NONE, Key::Z, marked!("zoom to the lifetime of the selected allocation"), Device(zoom_to_selected)),
    key(NONE, Key::R, marked!("show the marked range"), KeyAction::Pane(PaneId::Range))
        .also(marked!("statistics brush")),
    tray(0, Key::Num1),
    tray(1, Key::Num2),
    tray(2, Key::Num3),
    tray(3, Key::Num4),
    tray(4, Key::Num5),
    tray(5, Key::Num6),
    tray(6, Key::Num7),
    tray(7, Key::Num8),
    tray(8, Key::Num9),
    tray(9, Key::Num0),
    key(NONE, Key::Slash, marked!("write a filter"), Device(write_filter)).also(marked!("search find")),
    key(COMMAND, Key::F, marked!("write a filter"), Device(write_filter)).also(marked!("search find")),
    key(NONE, Key::Escape, marked!("select nothing, mark no range"), Device(|d| d.at.let_go()))
        .also(marked!("deselect")),
    key(COMMAND, Key::Equals, marked!("larger text"), Window(Command::TextSize(TextSize::Larger)))
        .shared(TEXT),
    key(COMMAND, Key::Minus, marked!("smaller text"), Window(Command::TextSize(TextSize::Smaller)))
        .shared(TEXT),
    key(COMMAND, Key::Plus, "", Window(Command::TextSize(TextSize::Larger))),
    key(COMMAND, Key::Num0, marked!("text of normal size"), Window(Command::TextSize(TextSize::Normal)))
        .also(marked!("zoom")),
    key(NONE, Key::Questionmark, marked!("show or hide this help"), Window(Command::Help))
        .also(marked!("keys shortcuts mouse")),
    key(NONE, Key::F1, marked!("show or hide this help"), Window(Command::Help))
        .also(marked!("keys shortcuts mouse")),
];

/// The keys of widgets, for the help.
const WIDGETS: [(&str, &str); 2] = [
    ("Tab, Shift+Tab", marked!("next control, control before")),
    ("Enter, Space", marked!("press the control")),
];

/// The meaning of the mouse, for the help.
pub(super) const MOUSE: [(&str, &str); 9] = [
    (marked!("Wheel"), marked!("zoom at the pointer")),
    (marked!("Shift+wheel"), marked!("zoom vertically, scroll through segments")),
    (marked!("Drag"), marked!("move the view")),
    (marked!("Shift+drag"), marked!("zoom to a box")),
    (marked!("Ctrl+drag"), marked!("mark a range")),
    (marked!("Click"), marked!("select, and put the cursor there")),
    (marked!("Double click"), marked!("zoom to a lifetime, or show everything")),
    (marked!("Drag the axis"), marked!("scrub the cursor")),
    (marked!("Right click, Shift+F10"), marked!("what can be done with it")),
];

/// The lines of the help: keys, and their meaning.
pub(super) fn help() -> Vec<(String, &'static str)> {
    let explained: Vec<&Shortcut> = SHORTCUTS.iter().filter(|known| !known.help().is_empty()).collect();
    let lines = explained.chunk_by(|a, b| a.help() == b.help()).map(|keys| {
        let name = match keys {
            [one] => one.keys(),
            [one, other] => format!("{}, {}", one.keys(), other.keys()),
            [first, .., last] => tr!("{} to {}", first.keys(), last.keys()),
            [] => String::new(),
        };
        (name, keys.first().map_or("", |first| first.help()))
    });
    lines.chain(WIDGETS.map(|(keys, does)| (keys.to_owned(), does))).collect()
}

/// Carry out an action about a device.
pub(super) fn act(action: &KeyAction, device: &mut OpenDevice) {
    match *action {
        Tray(at) => device.wanted_pane = panes::of_tray(at).or(device.wanted_pane),
        KeyAction::Pane(pane) => device.wanted_pane = Some(pane),
        KeyAction::ColorBy(by) => device.at.color_by = by,
        Device(run) => run(device),
        Window(_) | CloseShown | ReloadShown | LinkShown | KeyAction::ShowDevice(_) => {
            debug_assert!(false, "{action:?} is not about a device");
        }
    }
}

/// True if Escape was pressed. Nothing else is told of it then.
pub(super) fn take_escape(ctx: &egui::Context) -> bool {
    ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape))
}

/// The actions of the keys that were pressed, in their order: one for each press.
///
/// Plain keys are text where text is edited, or is about to be (`is_typing`).
pub(super) fn pressed(ctx: &egui::Context, is_typing: bool) -> Vec<&'static KeyAction> {
    let is_typing = is_typing || ctx.text_edit_focused();
    let is_in_list = virtual_list::has_focus(ctx);
    let has_arrows = focus::has_arrows(ctx);
    let mut actions = Vec::new();
    ctx.input_mut(|input| {
        input.events.retain(|event| {
            let found = shortcut(event).filter(|found| {
                // Lists have a start and an end of their own, and some widgets are moved with arrows.
                let is_plain = !found.modifiers.command && !found.modifiers.ctrl;
                let is_of_list = matches!(found.key, Key::Home | Key::End);
                let is_arrow = matches!(found.key, Key::ArrowLeft | Key::ArrowRight);
                !(is_typing && is_plain || is_in_list && is_of_list || has_arrows && is_arrow)
            });
            actions.extend(found.map(|found| &found.action));
            found.is_none()
        });
    });
    actions
}

/// The shortcut that an event is a press of. A key that is held down presses again and again.
fn shortcut(event: &Event) -> Option<&'static Shortcut> {
    let Event::Key { key, pressed: true, modifiers, .. } = event else { return None };
    SHORTCUTS.iter().find(|known| known.key == *key && modifiers.matches_logically(known.modifiers))
}

fn zoom_to_selected(device: &mut OpenDevice) {
    if let Some(id) = device.at.selected_allocation() {
        device.at.zoom_to_lifetime(id);
    }
}

fn mark_verdict(device: &mut OpenDevice) {
    device.at.marks_verdict = !device.at.marks_verdict;
}

fn write_filter(device: &mut OpenDevice) {
    device.filter.wants_focus = true;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shortcut_is_found_by_its_own_press() {
        for known in SHORTCUTS {
            let press = Event::Key {
                key: known.key,
                physical_key: None,
                pressed: true,
                repeat: false,
                modifiers: known.modifiers,
            };
            let found = shortcut(&press).expect("the key is in the table");
            assert_eq!((found.modifiers, found.key), (known.modifiers, known.key), "of {}", known.keys());
        }
    }

    #[test]
    fn no_two_shortcuts_share_a_key() {
        for (i, a) in SHORTCUTS.iter().enumerate() {
            for b in &SHORTCUTS[i + 1..] {
                assert!((a.modifiers, a.key) != (b.modifiers, b.key), "{:?} {:?}", a.modifiers, a.key);
            }
        }
    }

    #[test]
    fn the_help_names_every_key() {
        let help = help();
        let find = |keys: &str| help.iter().find(|(name, _)| name == keys).map(|(_, does)| *does);
        assert_eq!(find("Left, Right"), Some(STEPS));
        assert_eq!(find("Ctrl+K, Ctrl+P"), Some("search all commands"));
        assert_eq!(find("1 to 0"), Some("bring a pane of the tray to the front"));
        assert_eq!(find("/, Ctrl+F"), Some("write a filter"));
        assert_eq!(find("Ctrl+=, Ctrl+-"), Some(TEXT));
        assert_eq!(find("?, F1"), Some("show or hide this help"));
    }

    #[test]
    fn panes_of_the_tray_know_their_keys() {
        let of_tray = SHORTCUTS.iter().filter_map(|known| match known.action {
            Tray(at) => Some((at, known.keys())),
            _ => None,
        });
        let known = panes::TRAY_KEYS.chars().map(String::from).enumerate();
        assert_eq!(of_tray.collect::<Vec<_>>(), known.collect::<Vec<_>>());
    }
}
