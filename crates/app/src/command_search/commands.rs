//! Every command: those with keys, one line for each that has none, and those that follow from the program's
//! own lists of panes, colours, exports, devices and files.

use crate::command::Command;
use crate::device::TimelineMode;
use crate::device::filtering::FilterMode;
use crate::export::{EXPORT_CHOICES, ExportChoice};
use crate::keys::{KeyAction, SHORTCUTS};
use crate::panes;
use crate::texts::{marked, translated};
use eframe::egui::ThemePreference;
use oomscope_draw::{Axis, ColorBy};
use oomscope_units as units;
use std::path::PathBuf;
use tr::tr;

use KeyAction::{Device, Window};

/// A command without a key.
struct Unbound {
    name: &'static str,
    /// Other words to find it by.
    also: &'static str,
    action: KeyAction,
}

const fn unbound(name: &'static str, also: &'static str, action: KeyAction) -> Unbound {
    Unbound { name, also, action }
}

/// Commands without keys that no list of the program implies.
const UNBOUND: &[Unbound] = &[
    unbound(
        marked!("Time axis: every event is equally wide"),
        marked!("events"),
        Device(|d| d.at.set_axis(Axis::Event)),
    ),
    unbound(
        marked!("Time axis: as long as it took"),
        marked!("clock"),
        Device(|d| d.at.set_axis(Axis::Time)),
    ),
    unbound(marked!("Timeline of blocks"), "", Device(|d| d.at.timeline_mode = TimelineMode::Blocks)),
    unbound(
        marked!("Timeline of reserved memory"),
        marked!("reserved"),
        Device(|d| d.at.timeline_mode = TimelineMode::Segments),
    ),
    unbound(marked!("Filter: dim the rest"), "", Device(|d| d.at.filter_mode = FilterMode::Dim)),
    unbound(marked!("Filter: show only matches"), "", Device(|d| d.at.filter_mode = FilterMode::Only)),
    unbound(marked!("Filter: clear"), marked!("show all"), Device(|d| d.at.clear_filter())),
    unbound(marked!("Theme: dark"), "", Window(Command::Theme(ThemePreference::Dark))),
    unbound(marked!("Theme: light"), "", Window(Command::Theme(ThemePreference::Light))),
    unbound(marked!("Theme: follow the system"), "", Window(Command::Theme(ThemePreference::System))),
    unbound(marked!("Settings"), marked!("preferences editor options"), Window(Command::Settings)),
    unbound(marked!("Reset layout"), marked!("arrangement panes default"), Window(Command::ResetLayout)),
    unbound(marked!("Forget the recent files"), marked!("clear list"), Window(Command::ForgetRecent)),
];

/// One line of the list.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// Other words to find it by.
    pub(super) also: String,
    /// Its keys, or else what is to be known of it.
    pub(super) keys: String,
    pub(crate) action: KeyAction,
}

/// What is open, as far as commands depend on it.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// The open files, in the order of tabs.
    pub(crate) files: Vec<String>,
    /// The devices of the file in front; empty if none is open.
    pub(crate) devices: Vec<String>,
    /// Files that can be opened again.
    pub(crate) recent: Vec<PathBuf>,
}

/// Every command that does something now.
pub(crate) fn entries(shown: &Shown) -> Vec<Entry> {
    let mut all = with_keys();
    let unbound = UNBOUND.iter().map(|command| {
        entry(translated(command.name), command.action.clone()).also(translated(command.also))
    });
    // The timeline has a key.
    let exports = EXPORT_CHOICES.into_iter().filter(|choice| *choice != ExportChoice::TIMELINE);
    let exports = exports.map(|choice| entry(translated(choice.command), Window(Command::Export(choice))));
    let colours = ColorBy::ALL.map(|by| entry(tr!("Colour by {}", by.name()), KeyAction::ColorBy(by)));
    all.extend(shown_panes().chain(colours).chain(exports).chain(unbound));
    all.extend(opened(shown));
    let has_device = !shown.devices.is_empty();
    all.retain(|entry| has_device || is_of_window(&entry.action));
    all
}

/// Whether a command works without an open recording.
fn is_of_window(action: &KeyAction) -> bool {
    match action {
        Window(command) => !matches!(command, Command::Export(_) | Command::CopyPicture(_)),
        KeyAction::CloseShown | KeyAction::ReloadShown => true,
        _ => false,
    }
}

fn entry(name: impl Into<String>, action: KeyAction) -> Entry {
    Entry { name: name.into(), also: String::new(), keys: String::new(), action }
}

impl Entry {
    fn also(self, also: impl Into<String>) -> Self {
        Self { also: also.into(), ..self }
    }

    fn keys(self, keys: impl Into<String>) -> Self {
        Self { keys: keys.into(), ..self }
    }
}

/// The commands of the table of shortcuts, each once, with all of its keys.
fn with_keys() -> Vec<Entry> {
    let named = SHORTCUTS.iter().filter(|shortcut| !shortcut.does.is_empty());
    // The list itself is open already.
    let named = named.filter(|shortcut| !matches!(shortcut.action, Window(Command::SearchCommands)));
    let mut all: Vec<Entry> = Vec::new();
    for shortcut in named {
        let name = capitalised(&translated(shortcut.does));
        match all.iter_mut().find(|entry| entry.name == name) {
            Some(known) => known.keys = format!("{}, {}", known.keys, shortcut.keys()),
            None => all.push(
                entry(name, shortcut.action.clone()).also(translated(shortcut.also)).keys(shortcut.keys()),
            ),
        }
    }
    all
}

fn shown_panes() -> impl Iterator<Item = Entry> {
    panes::commands().map(|(pane, name)| {
        let keys = panes::key_of(pane).map(String::from).unwrap_or_default();
        entry(translated(name), KeyAction::Pane(pane)).also(tr!("pane tab")).keys(keys)
    })
}

/// Files and devices by name.
fn opened(shown: &Shown) -> impl Iterator<Item = Entry> {
    let several = |names: &[String]| if 1 < names.len() { names.to_vec() } else { Vec::new() };
    let devices = several(&shown.devices).into_iter().enumerate();
    let files = several(&shown.files).into_iter().enumerate();
    let recent = shown.recent.iter().map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = path.parent().map(|folder| folder.to_string_lossy()).unwrap_or_default();
        entry(tr!("Open {}", units::printable(&name)), Window(Command::OpenFile(path.clone())))
            .also(tr!("recent file"))
            .keys(units::printable(&folder))
    });
    devices
        .map(|(at, name)| entry(tr!("Show {name}", name), KeyAction::ShowDevice(at)).also(tr!("gpu")))
        .chain(files.map(|(at, name)| {
            entry(tr!("Go to {name}", name), Window(Command::Show(at))).also(tr!("file tab"))
        }))
        .chain(recent)
}

/// A name as it stands at the start of a line.
fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_file() -> Vec<Entry> {
        let devices = vec!["device 0".to_owned(), "device 1".to_owned()];
        entries(&Shown {
            devices,
            files: vec!["a".to_owned()],
            recent: vec![PathBuf::from("/runs/b.pickle")],
        })
    }

    #[test]
    fn every_command_has_a_name_of_its_own() {
        let mut names: Vec<String> = with_file().into_iter().map(|entry| entry.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn commands_come_with_their_keys() {
        let all = with_file();
        let keys = |name: &str| all.iter().find(|entry| entry.name == name).map(|entry| entry.keys.clone());
        assert_eq!(keys("Go to the peak").as_deref(), Some("P"));
        assert_eq!(keys("Write a filter").as_deref(), Some("/, Ctrl+F"));
        assert_eq!(keys("Show map").as_deref(), Some("1"));
        assert_eq!(keys("Show device 1").as_deref(), Some(""));
        assert_eq!(keys("Open b.pickle").as_deref(), Some("/runs"));
        assert!(keys("Colour by stack").is_some() && keys("Export report (HTML)…").is_some());
    }

    #[test]
    fn without_a_file_only_the_window_has_commands() {
        let all = entries(&Shown::default());
        assert!(all.iter().any(|entry| entry.name == "Open snapshots"));
        assert!(all.iter().all(|entry| is_of_window(&entry.action)));
        assert!(!all.iter().any(|entry| entry.name.starts_with("Export")));
    }
}
