//! What is said of things that are selected, searched, noted and written.

use super::views::{click, click_at, opened, place, press, unfold};
use super::*;
use crate::device::{PaneId, Selection, TimelineMode};
use eframe::egui::Modifiers;
use oomscope_analysis::MomentRange;

pub(super) fn all(seen: &mut Seen) {
    selections(seen);
    queries(seen);
    notes(seen);
    exports(seen);
}

/// Close what is open, from the innermost on.
fn close(harness: &mut Harness<'static, App>) {
    (0..3).for_each(|_| press(harness, Modifiers::NONE, Key::Escape));
}

/// Details, and menus of what is selected.
fn selections(seen: &mut Seen) {
    let mut harness = opened(sample("gpt_oom_forward.pickle"));
    harness.set_size(egui::vec2(1900.0, 1100.0));
    let device = device(&mut harness);
    let live = device.recording.lifetimes.live_at(device.at.cursor);
    let largest = live.max_by_key(|&id| device.recording.size(id)).expect("something is live");
    let (addr, stack) = (device.recording.addr(largest), device.recording.stack(largest));
    device.at.draw_range(MomentRange::between(Moment(300), Moment(900)));
    for (name, selection) in [
        ("allocation", Selection::Allocation(largest)),
        ("stack", Selection::Stack(stack)),
        ("segment", Selection::Segment { addr }),
    ] {
        self::device(&mut harness).at.select(selection);
        self::device(&mut harness).wanted_pane = Some(PaneId::Details);
        harness.run_steps(4);
        unfold(&mut harness);
        seen.view(name, &mut harness);
        press(&mut harness, Modifiers::SHIFT, Key::F10);
        seen.view(&format!("menu of {name}"), &mut harness);
        for menu in ["Show in", "Copy", "Filter to", "Exclude", "This line is"] {
            if place(&harness, menu).is_some() {
                click(&mut harness, menu);
                seen.view(menu, &mut harness);
            }
        }
        close(&mut harness);
    }
    self::device(&mut harness).at.timeline_mode = TimelineMode::Segments;
    self::device(&mut harness).at.draw_range(MomentRange::between(Moment(300), Moment(900)));
    self::device(&mut harness).wanted_pane = Some(PaneId::Range);
    seen.view("range", &mut harness);
    self::device(&mut harness).wanted_pane = Some(PaneId::Events);
    harness.run_steps(4);
    let row = harness.get_all_by_role(Role::Row).nth(1).map(|row| row.rect().center());
    click_at(&mut harness, row.expect("an event"), PointerButton::Secondary);
    seen.view("menu of an event", &mut harness);
}

/// Filters and searches, those that are wrong, too.
fn queries(seen: &mut Seen) {
    let mut harness = opened(sample("gpt_oom_forward.pickle"));
    press(&mut harness, Modifiers::NONE, Key::Slash);
    seen.view("filter", &mut harness);
    write(&mut harness, "size:>");
    seen.view("wrong filter", &mut harness);
    close(&mut harness);
    for query in ["size>1MiB", "size>1TiB"] {
        device(&mut harness).at.filter(query.to_owned());
        seen.view(query, &mut harness);
    }
    device(&mut harness).at.clear_filter();
    device(&mut harness).wanted_pane = Some(PaneId::Events);
    harness.run_steps(4);
    click(&mut harness, "Search events");
    write(&mut harness, "alloc");
    seen.view("search", &mut harness);
}

/// Notes, in their list, on the timeline, and as they are written.
fn notes(seen: &mut Seen) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("frag_oom.pickle");
    std::fs::copy(sample("frag_oom.pickle"), &path).expect("a temporary file");
    seen.words.add_names(&path.to_string_lossy());
    seen.words.add_names("kept");
    let mut harness = opened(path);
    press(&mut harness, Modifiers::NONE, Key::N);
    write(&mut harness, "kept");
    seen.view("a new note", &mut harness);
    press(&mut harness, Modifiers::NONE, Key::Enter);
    device(&mut harness).wanted_pane = Some(PaneId::Notes);
    seen.view("notes", &mut harness);
    click(&mut harness, "Edit note: »kept«");
    seen.view("a changed note", &mut harness);
}

/// What became of an export.
fn exports(seen: &mut Seen) {
    let mut harness = opened(sample("frag_oom.pickle"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("timeline.png");
    seen.words.add_names(&path.to_string_lossy());
    for turn in ["written", "not replaced"] {
        press(&mut harness, Modifiers::COMMAND, Key::E);
        press(&mut harness, Modifiers::COMMAND, Key::A);
        write(&mut harness, &path.to_string_lossy());
        press(&mut harness, Modifiers::NONE, Key::Enter);
        wait(&mut harness, |harness| {
            !harness.state().export_panel.is_shown() || place(harness, "Replace").is_some()
        });
        seen.view(turn, &mut harness);
    }
}

fn write(harness: &mut Harness<'static, App>, text: &str) {
    harness.event(Event::Text(text.to_owned()));
    harness.run_steps(4);
}
