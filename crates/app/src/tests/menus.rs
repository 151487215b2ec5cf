//! Context menus: a right click on a thing, and what its entries do.

use super::*;
use crate::device::PaneId;
use crate::device::Selection;
use crate::screenshots::Camera;
use eframe::egui::{Event, Modifiers, PointerButton, Pos2};
use egui_kittest::kittest::NodeT as _;
use oomscope_analysis::Category;
use oomscope_snapshot::load::RULES_FILE;

fn right_click(harness: &mut Harness<'static, App>, at: Pos2) {
    harness.event(Event::PointerMoved(at));
    harness.run_steps(2);
    for pressed in [true, false] {
        let (button, modifiers) = (PointerButton::Secondary, Modifiers::NONE);
        harness.event(Event::PointerButton { pos: at, button, pressed, modifiers });
        harness.run_steps(1);
    }
    harness.run_steps(3);
}

/// Right click on the band at the bottom of the timeline, where the OOM is.
fn right_click_block(harness: &mut Harness<'static, App>) {
    let rect = harness.get_by_role_and_label(Role::Canvas, "Allocation timeline").rect();
    // Behind it is what is projected.
    let device = device(harness);
    let recorded = device.recording.moments() as f64 / device.at.view.x1;
    let end = rect.left() + rect.width() * recorded.min(1.0) as f32;
    right_click(harness, egui::pos2(end - 12.0, rect.bottom() - 10.0));
}

/// Click entries of menus, one within the other.
fn choose(harness: &mut Harness<'static, App>, entries: &[&str]) {
    for entry in entries {
        // Tabs may have the same name; menus come last.
        let found = harness.get_all_by_role_and_label(Role::Button, entry).last();
        found.unwrap_or_else(|| panic!("no {entry}")).click();
        harness.run_steps(4);
    }
}

fn is_open(harness: &Harness<'static, App>) -> bool {
    harness.query_by_role_and_label(Role::Button, "This line is").is_some()
}

#[test]
fn a_block_is_filtered_to_its_line_and_excluded() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    right_click_block(&mut harness);
    choose(&mut harness, &["Filter to this line"]);
    assert_eq!(device(&mut harness).at.query, "site:\"train.py:55 attention\"");
    assert!(!is_open(&harness), "a choice closes the menu");
    device(&mut harness).at.query = "size>1MB".to_owned();
    right_click_block(&mut harness);
    choose(&mut harness, &["Exclude this line"]);
    assert_eq!(device(&mut harness).at.query, "size>1MB -site:\"train.py:55 attention\"");
    harness.run_steps(3);
    assert_eq!(device(&mut harness).derived.matches().map(|found| found.count()), Some(0));
    device(&mut harness).at.query.clear();
    right_click_block(&mut harness);
    choose(&mut harness, &["Filter to", "stream 0"]);
    assert_eq!(device(&mut harness).at.query, "stream:0");
    right_click_block(&mut harness);
    choose(&mut harness, &["Filter further to", "8.00 MiB each"]);
    harness.run_steps(3);
    let device = device(&mut harness);
    assert_eq!(device.at.query, "stream:0 size=8388608B");
    assert_eq!(device.derived.matches().map(|found| found.count()), Some(1));
}

#[test]
fn a_pane_comes_forward_with_the_block() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    for (entry, shown) in
        [("Allocations", "At the cursor"), ("Events", "Only matching"), ("Details", "8.00 MiB allocation")]
    {
        device(&mut harness).at.select(Selection::None);
        harness.run_steps(2);
        right_click_block(&mut harness);
        choose(&mut harness, &["Show in", entry]);
        assert!(matches!(device(&mut harness).at.selection(), Selection::Allocation(_)), "{entry}");
        assert!(harness.query_all_by_label(shown).next().is_some(), "{entry}");
    }
}

#[test]
fn a_line_is_what_the_user_says_and_what_was_found_again() {
    let mut harness = harness();
    let folder = open(&mut harness, &snapshot_pickle());
    let category = |harness: &mut Harness<'static, App>| {
        let device = device(harness);
        let id = device.recording.lifetimes.live_at(device.at.cursor).next().expect("a block");
        device.derived.attribution().expect("it is found at once").categories.get(id)
    };
    let before = category(&mut harness);
    assert_ne!(before, Category::KvCache);
    device(&mut harness).at.query = "size>1MB".to_owned();
    right_click_block(&mut harness);
    choose(&mut harness, &["This line is", "KV cache"]);
    assert_eq!(category(&mut harness), Category::KvCache);
    assert_eq!(device(&mut harness).at.query, "size>1MB", "the user stays where they were");
    let path = folder.path().join(RULES_FILE);
    let text = std::fs::read_to_string(&path).expect("a rules file beside the snapshot");
    assert!(text.contains("site = '^/home/me/train\\.py:55 attention$'"), "{text}");
    assert!(harness.query_by_label_contains("train.py:55 attention: KV cache, by a rule in").is_some());
    // The rules stay when the file is loaded again.
    harness.key_press(Key::F5);
    assert!(wait(&mut harness, |harness| category(harness) == Category::KvCache));
    right_click_block(&mut harness);
    choose(&mut harness, &["This line is", "as found without a rule"]);
    assert_eq!(category(&mut harness), before);
    assert!(!path.exists(), "nothing is left of it");
}

#[test]
fn a_rules_file_beside_the_snapshot_is_used_when_the_user_says_so() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rules = "[[rule]]\ncategory = 'kv_cache'\nfunction = '^attention$'\n";
    std::fs::write(folder.path().join(RULES_FILE), rules).expect("it can be written");
    std::fs::write(folder.path().join("run.pickle"), snapshot_pickle()).expect("it can be written");
    let mut harness = harness();
    open_path(&mut harness, folder.path().join("run.pickle"));
    let has_any = |harness: &mut Harness<'static, App>| {
        let found = device(harness).derived.attribution().cloned().expect("it is found at once");
        found.categories.present().contains(&Category::KvCache)
    };
    assert!(!has_any(&mut harness));
    choose(&mut harness, &["Use its rules"]);
    assert!(has_any(&mut harness));
    assert!(harness.query_by_label("Use its rules").is_none());
}

#[test]
fn a_rules_file_with_a_mistake_is_left_alone() {
    let mut harness = harness();
    let folder = open(&mut harness, &snapshot_pickle());
    let path = folder.path().join(RULES_FILE);
    std::fs::write(&path, "[[rule]]\ncategory = 'weights'\n").expect("it can be written");
    right_click_block(&mut harness);
    choose(&mut harness, &["This line is", "inputs"]);
    assert!(harness.query_by_label_contains("No rule was written:").is_some());
    assert_eq!(std::fs::read_to_string(&path).expect("the file"), "[[rule]]\ncategory = 'weights'\n");
}

#[test]
fn rows_of_lists_meanings_of_colours_and_lines_of_the_report_have_the_menu() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    let title = |harness: &Harness<'static, App>| is_open(harness);
    device(&mut harness).wanted_pane = Some(PaneId::Allocations);
    harness.run_steps(4);
    let row = harness.get_all_by_role(Role::Row).next().expect("a row").rect().center();
    right_click(&mut harness, row);
    assert!(title(&harness), "a row of allocations");
    harness.key_press(Key::Escape);
    harness.run_steps(3);
    assert!(!title(&harness), "Escape closes the menu");
    device(&mut harness).wanted_pane = Some(PaneId::Events);
    harness.run_steps(4);
    // The first may lie below the heads of the columns.
    let row = harness.get_all_by_role(Role::Row).nth(1).expect("a row").rect().center();
    right_click(&mut harness, row);
    assert!(harness.query_by_label("Go to this event").is_some());
    harness.key_press(Key::Escape);
    harness.run_steps(3);
    let key = harness
        .get_all_by_role(Role::Button)
        .find(|node| node.accesskit_node().label().is_some_and(|label| label.starts_with("activations ")));
    let place = key.map(|node| node.rect().center());
    right_click(&mut harness, place.expect("a row of the legend"));
    choose(&mut harness, &["Filter to activations"]);
    assert_eq!(device(&mut harness).at.query, "category:activation");
}

#[test]
fn the_keyboard_opens_the_menu_of_the_selection_and_walks_it() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    harness.key_press_modifiers(Modifiers::SHIFT, Key::F10);
    harness.run_steps(3);
    assert!(!is_open(&harness), "nothing is selected");
    let first = device(&mut harness).recording.ids().next().expect("an allocation");
    device(&mut harness).at.select(Selection::Allocation(first));
    harness.run_steps(3);
    let cursor = cursor(&mut harness);
    harness.key_press_modifiers(Modifiers::SHIFT, Key::F10);
    harness.run_steps(4);
    assert!(is_open(&harness));
    harness.key_press(Key::ArrowDown);
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    harness.run_steps(4);
    assert_eq!(device(&mut harness).at.query, "-site:\"train.py:55 attention\"");
    assert_eq!(super::cursor(&mut harness), cursor, "arrows are the menu's");
}

/// Saves what menus look like, as the panes of `looks.rs`.
#[test]
fn looks_of_menus() {
    for (theme, size) in [(Theme::Dark, [1280.0, 800.0]), (Theme::Light, [900.0, 600.0])] {
        let camera = Camera::default();
        let mut harness = camera.harness(size, theme);
        open_path(&mut harness, sample("frag_oom.pickle"));
        right_click_block(&mut harness);
        if harness.query_by_role_and_label(Role::Button, "This line is").is_none() {
            // In a low window, the pointer is on a colour, whichever has the last pixels of its column.
            assert!(harness.query_all_by_label_contains("Filter to ").next().is_some());
            camera.save(&harness, "menu_of_a_colour");
            harness.key_press(Key::Escape);
            harness.run_steps(3);
            let device = device(&mut harness);
            let live = device.recording.lifetimes.live_at(device.at.cursor);
            let largest = live.max_by_key(|&id| device.recording.size(id)).expect("a block");
            device.at.select(Selection::Allocation(largest));
            harness.run_steps(3);
            harness.key_press_modifiers(Modifiers::SHIFT, Key::F10);
            harness.run_steps(3);
        }
        choose(&mut harness, &["This line is"]);
        camera.save(&harness, &format!("menu_{}_{theme:?}", size[0]));
        let screen = harness.ctx.content_rect();
        for category in ["parameters", "other"] {
            let entry = harness.get_all_by_role_and_label(Role::Button, category).last().expect("an entry");
            assert!(screen.contains_rect(entry.rect()), "{category} at {:?}", entry.rect());
        }
    }
}
