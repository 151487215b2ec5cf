//! What is shown to be read: pages, dialogs, and the panes of files.

use super::*;
use crate::device::PaneId;
use crate::panes;
use eframe::egui::Modifiers;

/// Open a file and wait until it is loaded or failed.
pub(super) fn opened(path: PathBuf) -> Harness<'static, App> {
    let mut harness = harness();
    add(&mut harness, path);
    harness
}

pub(super) fn add(harness: &mut Harness<'static, App>, path: PathBuf) {
    let ctx = harness.ctx.clone();
    harness.state_mut().open(Input::File(path), &ctx);
    let is_done = wait(harness, |harness| {
        let documents = &mut harness.state_mut().documents;
        documents.last_mut().is_some_and(|document| document.is_failed() || document.open_file().is_some())
    });
    assert!(is_done, "the file neither opens nor fails");
}

/// The middle of what has a name, with or without brackets.
pub(super) fn place(harness: &Harness<'static, App>, name: &str) -> Option<Pos2> {
    let marked = format!("«{name}»");
    let nodes = harness.root().children_recursive();
    let named = nodes.filter(|node| {
        let label = node.accesskit_node().label().unwrap_or_default();
        label == marked || label == name
    });
    let node = named.last()?;
    node.accesskit_node().bounding_box().map(|_| node.rect().center())
}

pub(super) fn click_at(harness: &mut Harness<'static, App>, at: Pos2, button: PointerButton) {
    harness.event(Event::PointerMoved(at));
    harness.run_steps(2);
    for pressed in [true, false] {
        harness.event(Event::PointerButton { pos: at, button, pressed, modifiers: Modifiers::NONE });
        harness.run_steps(1);
    }
    harness.run_steps(4);
}

/// Click what has a name.
pub(super) fn click(harness: &mut Harness<'static, App>, name: &str) {
    let at = place(harness, name).unwrap_or_else(|| panic!("no {name:?} is shown"));
    click_at(harness, at, PointerButton::Primary);
}

pub(super) fn press(harness: &mut Harness<'static, App>, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    harness.run_steps(4);
}

/// Unfold what is folded.
pub(super) fn unfold(harness: &mut Harness<'static, App>) {
    let folded = |node: &egui_kittest::Node<'_>| {
        let name = node.accesskit_node().label().unwrap_or_default();
        name.starts_with("«Unfold »").then_some(name)
    };
    let names: BTreeSet<String> =
        harness.root().children_recursive().filter_map(|node| folded(&node)).collect();
    for name in names {
        let found = harness.root().children_recursive().find(|node| folded(node).as_ref() == Some(&name));
        if let Some(node) = found {
            node.click_accesskit();
        }
        harness.run_steps(2);
    }
    harness.run_steps(20);
}

pub(super) fn all(seen: &mut Seen) {
    pages(seen);
    window(seen);
    for name in ["frag_oom.pickle", "annotated.pickle", "history_state_only.pickle"] {
        panes_of(seen, name, |_| true);
    }
    // What else they show is the same as in the others.
    let tells = |pane| matches!(pane, PaneId::Timeline | PaneId::Segments | PaneId::Stacks | PaneId::Modules);
    for name in
        ["gpt_oom_expandable.pickle", "pools.pickle", "leak_no_stacks.pickle.gz", "late_start.pickle.gz"]
    {
        panes_of(seen, name, tells);
    }
    comparison(seen);
}

/// Pages that are no file.
fn pages(seen: &mut Seen) {
    seen.view("start", &mut harness());
    let folder = tempfile::tempdir().expect("a temporary folder");
    seen.words.add_names(&folder.path().to_string_lossy());
    let whole = snapshot_pickle();
    for (name, bytes) in
        [("refused.pickle", &b"no snapshot"[..]), ("cut.pickle", &whole[..whole.len() * 9 / 10])]
    {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("a temporary file");
        seen.view(name, &mut opened(path));
    }
    seen.view("empty folder", &mut listed(tempfile::tempdir().expect("a temporary folder").path()));
    seen.view("folder", &mut listed(&sample("")));
    let mut ranks = listed(&sample("ranks"));
    click(&mut ranks, "Ranks");
    wait(&mut ranks, |harness| place(harness, "Stop").is_none());
    ranks.run_steps(30);
    for rank in [0, 3] {
        let path = format!("ranks/rank{rank}_memory_snapshot.pickle.gz");
        seen.words.add_files(opened(sample(&path)).state_mut());
    }
    seen.view("ranks", &mut ranks);
}

/// A folder in a tab, with the verdicts of its files.
fn listed(folder: &std::path::Path) -> Harness<'static, App> {
    let mut harness = harness();
    harness.state_mut().glances.may_scan = true;
    let ctx = harness.ctx.clone();
    harness.state_mut().open(Input::File(folder.to_owned()), &ctx);
    wait(&mut harness, |harness| place(harness, "List again").is_some());
    harness
}

/// Menus and dialogs of the window.
fn window(seen: &mut Seen) {
    let mut harness = opened(sample("leak_eval_losses.pickle"));
    add(&mut harness, sample("two_devices_oom.pickle"));
    device(&mut harness);
    for menu in ["Export", "Settings", "More"] {
        click(&mut harness, menu);
        seen.view(menu, &mut harness);
        press(&mut harness, Modifiers::NONE, Key::Escape);
    }
    let tab = place(&harness, "two_devices_oom.pickle").expect("a tab");
    click_at(&mut harness, tab, PointerButton::Secondary);
    seen.view("menu of a tab", &mut harness);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    for (key, modifiers) in [
        (Key::F1, Modifiers::NONE),
        (Key::K, Modifiers::COMMAND),
        (Key::O, Modifiers::COMMAND),
        (Key::E, Modifiers::COMMAND),
    ] {
        press(&mut harness, modifiers, key);
        seen.view(&format!("{key:?}"), &mut harness);
        press(&mut harness, Modifiers::NONE, Key::Escape);
        press(&mut harness, Modifiers::NONE, Key::Escape);
    }
    harness.state_mut().is_first = true;
    harness.state_mut().notice = Some(String::new());
    seen.view("first", &mut harness);
}

/// Panes of a file, with all that is folded in them.
fn panes_of(seen: &mut Seen, name: &str, tells: impl Fn(PaneId) -> bool) {
    let mut harness = opened(sample(name));
    harness.set_size(egui::vec2(1900.0, 1100.0));
    wait(&mut harness, |harness| device(harness).derived.predictions().is_some());
    for (pane, _) in panes::commands().filter(|(pane, _)| tells(*pane)) {
        device(&mut harness).wanted_pane = Some(pane);
        harness.run_steps(4);
        unfold(&mut harness);
        seen.view(&format!("{name} {pane:?}"), &mut harness);
        for choice in ["Totals", "All", "Allocated", "Change", "Bytes × time", "Callees first", "Expand all"]
        {
            if place(&harness, choice).is_some() {
                click(&mut harness, choice);
                seen.view(&format!("{name} {choice}"), &mut harness);
            }
        }
    }
}

/// Two files side by side.
fn comparison(seen: &mut Seen) {
    let mut harness = opened(sample("before_edit.pickle.gz"));
    harness.set_size(egui::vec2(1900.0, 1100.0));
    add(&mut harness, sample("after_edit.pickle.gz"));
    device(&mut harness).wanted_pane = Some(PaneId::Compare);
    seen.view("compare", &mut harness);
    for body in ["By line", "By stack", "Curves", "Ranges"] {
        click(&mut harness, body);
        harness.run_steps(6);
        seen.view(body, &mut harness);
    }
}
