//! Menus without a mouse: arrows go through them, Escape closes the innermost, and the keyboard returns to where it was.

use super::*;
use crate::device::Selection;
use crate::screenshots::Camera;
use eframe::egui::{Event, Modifiers, PointerButton};
use egui_kittest::kittest::NodeT as _;
use oomscope_draw::{ColorBy, Rgb};

fn press(harness: &mut Harness<'static, App>, keys: &[Key]) {
    for &key in keys {
        harness.key_press(key);
        harness.run_steps(4);
    }
}

/// The name of what has the keyboard.
fn focused(harness: &Harness<'static, App>) -> Option<String> {
    let node = harness.root().children_recursive().find(|node| node.accesskit_node().is_focused())?;
    let node = node.accesskit_node();
    node.value().filter(|value| !value.is_empty()).or_else(|| node.label())
}

fn shows(harness: &Harness<'static, App>, name: &str) -> bool {
    harness.query_all_by_label(name).next().is_some()
}

/// A file with a selection, which Escape would take away.
fn opened() -> (Harness<'static, App>, tempfile::TempDir) {
    let mut harness = harness();
    let folder = open(&mut harness, &snapshot_pickle());
    let first = device(&mut harness).recording.ids().next().expect("an allocation");
    device(&mut harness).at.select(Selection::Allocation(first));
    harness.run_steps(3);
    (harness, folder)
}

/// The selection and the cursor: keys of a menu change neither.
fn place(harness: &mut Harness<'static, App>) -> (Selection, Moment) {
    let at = &device(harness).at;
    (at.selection(), at.cursor)
}

#[test]
fn escape_closes_a_menu_and_nothing_else() {
    let (mut harness, _folder) = opened();
    let before = place(&mut harness);
    harness.get_by_label("Export").focus();
    harness.run_steps(2);
    press(&mut harness, &[Key::Enter, Key::ArrowDown]);
    assert!(shows(&harness, "Reset layout") || shows(&harness, "Copy the timeline Ctrl+Shift+E"));
    let entry = focused(&harness).expect("an entry");
    assert_ne!(entry, "Export");
    press(&mut harness, &[Key::ArrowDown]);
    assert_ne!(focused(&harness), Some(entry.clone()));
    press(&mut harness, &[Key::ArrowUp]);
    assert_eq!(focused(&harness), Some(entry.clone()));
    press(&mut harness, &[Key::Escape]);
    assert!(!shows(&harness, &entry), "the menu is closed");
    assert_eq!(focused(&harness).as_deref(), Some("Export"));
    assert_eq!(place(&mut harness), before);
    // Without a menu, the keys mean what they did.
    press(&mut harness, &[Key::ArrowLeft, Key::Escape]);
    assert_eq!(place(&mut harness), (Selection::None, Moment(before.1.0 - 1)));
}

#[test]
fn left_and_right_go_to_the_neighbouring_menu() {
    let (mut harness, _folder) = opened();
    let before = place(&mut harness);
    harness.get_by_label("Export").focus();
    harness.run_steps(2);
    press(&mut harness, &[Key::Enter, Key::ArrowDown]);
    let entry = focused(&harness).expect("an entry");
    press(&mut harness, &[Key::ArrowRight]);
    assert!(shows(&harness, "Follow the system") && !shows(&harness, &entry));
    press(&mut harness, &[Key::ArrowDown]);
    assert_eq!(focused(&harness).as_deref(), Some("Follow the system"));
    press(&mut harness, &[Key::ArrowLeft]);
    assert!(!shows(&harness, "Follow the system") && shows(&harness, &entry));
    press(&mut harness, &[Key::Escape]);
    assert_eq!(focused(&harness).as_deref(), Some("Export"));
    assert_eq!(place(&mut harness), before);
}

#[test]
fn a_chooser_is_used_with_arrows_and_enter() {
    let (mut harness, _folder) = opened();
    let before = place(&mut harness);
    let chooser = |harness: &Harness<'static, App>| {
        let all = harness.get_all_by_role(Role::ComboBox);
        all.map(|node| node.accesskit_node().value())
            .find(|v| v.as_ref().is_some_and(|v| v.starts_with("Colour by")))
    };
    let name = chooser(&harness).flatten().expect("a chooser of colours");
    harness.get_by_value(&name).focus();
    harness.run_steps(2);
    // The first entry; Left and Right mean nothing there.
    press(&mut harness, &[Key::Enter, Key::ArrowDown, Key::ArrowRight, Key::ArrowLeft, Key::ArrowDown]);
    assert_eq!(focused(&harness), Some(format!("Colour by {}", ColorBy::ALL[1].name())));
    press(&mut harness, &[Key::Enter]);
    assert_eq!(device(&mut harness).at.color_by, ColorBy::ALL[1]);
    assert_eq!(
        harness.query_all_by_role(Role::Button).filter(|node| is_named(node, ColorBy::ALL[2].name())).count(),
        0
    );
    assert_eq!(focused(&harness), chooser(&harness).flatten(), "the chooser has the keyboard again");
    assert_eq!(place(&mut harness), before);
}

fn is_named(node: &egui_kittest::Node<'_>, name: &str) -> bool {
    node.accesskit_node().label().is_some_and(|label| label == format!("Colour by {name}"))
}

#[test]
fn menus_within_menus_open_to_the_right_and_close_one_by_one() {
    let (mut harness, _folder) = opened();
    let before = place(&mut harness);
    harness.get_by_label("Time").focus();
    harness.run_steps(3);
    harness.key_press_modifiers(Modifiers::SHIFT, Key::F10);
    harness.run_steps(4);
    let first = focused(&harness).expect("an entry");
    assert_eq!(first, "Filter to this line");
    while focused(&harness).as_deref() != Some("Copy") {
        press(&mut harness, &[Key::ArrowDown]);
    }
    press(&mut harness, &[Key::ArrowRight]);
    let inner = focused(&harness).expect("an entry");
    assert_ne!(inner, "Copy");
    press(&mut harness, &[Key::ArrowLeft]);
    assert_eq!(focused(&harness).as_deref(), Some("Copy"));
    press(&mut harness, &[Key::ArrowRight]);
    assert_eq!(focused(&harness), Some(inner.clone()));
    press(&mut harness, &[Key::Escape]);
    assert!(!shows(&harness, &inner) && shows(&harness, &first), "the inner one alone is closed");
    assert_eq!(focused(&harness).as_deref(), Some("Copy"));
    press(&mut harness, &[Key::Escape]);
    assert!(!shows(&harness, &first));
    assert_eq!(focused(&harness).as_deref(), Some("Time"));
    assert_eq!(place(&mut harness), before);
}

#[test]
fn keys_go_through_a_menu_that_the_mouse_opened() {
    let (mut harness, _folder) = opened();
    let before = place(&mut harness);
    let rect = harness.get_by_role_and_label(Role::Canvas, "Allocation timeline").rect();
    let pos = egui::pos2(rect.right() - 12.0, rect.bottom() - 10.0);
    harness.event(Event::PointerMoved(pos));
    harness.run_steps(2);
    for pressed in [true, false] {
        let (button, modifiers) = (PointerButton::Secondary, Modifiers::NONE);
        harness.event(Event::PointerButton { pos, button, pressed, modifiers });
        harness.run_steps(2);
    }
    press(&mut harness, &[Key::ArrowLeft, Key::ArrowRight, Key::Home, Key::P]);
    assert_eq!(place(&mut harness), before, "keys of the timeline mean nothing");
    press(&mut harness, &[Key::ArrowDown]);
    assert_eq!(focused(&harness).as_deref(), Some("Filter to this line"));
    press(&mut harness, &[Key::Enter]);
    assert!(!shows(&harness, "Filter to this line"));
    assert_eq!(device(&mut harness).at.query, "site:\"train.py:55 attention\"");
}

#[test]
fn a_chosen_entry_closes_its_menu_and_settings_stay() {
    let (mut harness, _folder) = opened();
    harness.get_by_label("Export").focus();
    harness.run_steps(2);
    press(&mut harness, &[Key::Enter, Key::ArrowDown]);
    let entry = focused(&harness).expect("an entry");
    press(&mut harness, &[Key::Enter]);
    assert!(!shows(&harness, &entry));
    assert!(shows(&harness, "Path"), "the panel asks for a path");
    press(&mut harness, &[Key::Escape]);
    harness.get_by_label("Settings").focus();
    harness.run_steps(2);
    press(&mut harness, &[Key::Enter, Key::ArrowDown, Key::ArrowDown, Key::Enter]);
    assert_eq!(harness.ctx.theme(), Theme::Light);
    assert_eq!(focused(&harness).as_deref(), Some("Light"), "the menu of settings stays");
    press(&mut harness, &[Key::Escape]);
    assert_eq!(focused(&harness).as_deref(), Some("Settings"));
}

#[test]
fn escape_closes_the_offers_of_the_filter_before_the_help() {
    let (mut harness, _folder) = opened();
    let before = place(&mut harness);
    press(&mut harness, &[Key::Questionmark, Key::Slash]);
    harness.event(Event::Text("liv".to_owned()));
    harness.run_steps(3);
    assert!(shows(&harness, "Keyboard and mouse"));
    let offers =
        |harness: &Harness<'static, App>| harness.query_by_label_contains("live at the cursor").is_some();
    let is_offered = offers(&harness);
    press(&mut harness, &[Key::Escape]);
    assert!(is_offered && !offers(&harness), "the offers are closed");
    assert!(harness.ctx.text_edit_focused(), "the field has the keyboard");
    assert!(shows(&harness, "Keyboard and mouse"), "the help stays");
    assert_eq!(device(&mut harness).at.query, "liv");
    assert_eq!(place(&mut harness), before);
}

#[test]
fn the_entry_that_has_the_keyboard_has_a_ring() {
    let camera = Camera::default();
    for (theme, Rgb(r, g, b)) in [
        (Theme::Dark, oomscope_draw::Palette::DARK.accent),
        (Theme::Light, oomscope_draw::Palette::LIGHT.accent),
    ] {
        let mut harness = camera.harness([900.0, 600.0], theme);
        open_path(&mut harness, sample("frag_oom.pickle"));
        harness.get_by_label("Export").focus();
        harness.run_steps(2);
        press(&mut harness, &[Key::Enter, Key::ArrowDown, Key::ArrowDown]);
        let node = harness.root().children_recursive().find(|node| node.accesskit_node().is_focused());
        let rect = node.expect("an entry").rect();
        let pixels = camera.save(&harness, &format!("menu_keys_{theme:?}"));
        // Through the middle of the entry, the ring is crossed at both ends.
        let row = rect.center().y as usize;
        let crossed = (rect.left() as usize - 4..rect.right() as usize + 4)
            .filter(|&x| pixels.get(x, row) == Some([r, g, b, 255]));
        assert!(3 <= crossed.count(), "{theme:?}");
    }
}
