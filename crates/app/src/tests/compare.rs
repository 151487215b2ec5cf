//! The pane *Compare* in the real application.

use super::{device, harness, open_path, sample, wait};
use crate::App;
use crate::device::PaneId;
use crate::device::Selection;
use eframe::egui::{Event, Key, Modifiers, PointerButton, Pos2, Role, pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use oomscope_analysis::{MomentRange, site_label};
use oomscope_draw::{FLAME_ROW_PX, FlameRect};
use oomscope_model::Moment;

/// Two recordings of a program before and after an edit; the second is shown.
fn edited() -> Harness<'static, App> {
    let mut harness = harness();
    open_path(&mut harness, sample("before_edit.pickle.gz"));
    open_path(&mut harness, sample("after_edit.pickle.gz"));
    device(&mut harness).wanted_pane = Some(PaneId::Compare);
    harness.run_steps(6);
    harness
}

#[test]
fn another_open_file_is_compared_at_its_peak_and_a_row_filters() {
    let mut harness = edited();
    let sentence =
        "Peak 921 MiB → 2.62 GiB: activations of train.py forward (train.py:51) 80.0 MiB → 1.80 GiB";
    assert!(harness.query_by_label_contains(sentence).is_some());
    let row = "256 MiB, 1.97 GiB, +1.72 GiB, grown, activations";
    harness.get_by_role_and_label(Role::Row, row).click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "category:activation");
    harness.get_by_label("By line").click();
    harness.run_steps(3);
    let line = "80.0 MiB, 720 MiB, +640 MiB, grown, train.py:40 forward (A: line 37)";
    harness.get_by_role_and_label(Role::Row, line).click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "site:\"train.py:40 forward\"");
}

#[test]
fn operators_have_rows_of_their_own() {
    let mut harness = edited();
    harness.get_by_label("By operator").click();
    harness.run_steps(3);
    assert!(harness.query_all_by_role(Role::Row).any(|row| format!("{row:?}").contains("linear")));
}

#[test]
fn of_several_open_files_the_most_alike_is_compared() {
    let mut harness = harness();
    for name in ["gpt_oom_forward.pickle", "before_edit.pickle.gz", "frag_oom.pickle", "after_edit.pickle.gz"]
    {
        open_path(&mut harness, sample(name));
    }
    device(&mut harness).wanted_pane = Some(PaneId::Compare);
    harness.run_steps(6);
    assert!(harness.query_by_label_contains("Peak 921 MiB → 2.62 GiB").is_some());
    harness.get_by_label("Curves").click();
    harness.run_steps(3);
    for title in ["A: before_edit.pickle.gz", "B: after_edit.pickle.gz"] {
        assert!(harness.query_by_label(title).is_some(), "no {title} in the legend");
    }
}

#[test]
fn cursors_of_both_files_move_together() {
    let mut harness = edited();
    harness.get_by_label("Curves").click();
    harness.run_steps(3);
    let rect = harness.get_by_role_and_label(Role::Canvas, "Both curves").rect();
    let (ours, theirs) = cursors(&mut harness);
    let at = pos2(rect.left() + 0.3 * rect.width(), rect.center().y);
    harness.drag_at(at);
    harness.run_steps(2);
    harness.drop_at(at);
    harness.run_steps(3);
    let (moved, also) = cursors(&mut harness);
    assert_ne!(moved, ours);
    assert_ne!(also, theirs);
}

/// The cursors of the file that is shown and of the other one.
fn cursors(harness: &mut Harness<'static, App>) -> (Moment, Moment) {
    let [other, shown] = [0, 1].map(|at| {
        let file = harness.state_mut().documents[at].open_file().expect("an open file");
        file.device().expect("a device").at.cursor
    });
    (shown, other)
}

#[test]
fn a_file_alone_compares_its_own_moments_and_devices() {
    let mut harness = harness();
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    device(&mut harness).wanted_pane = Some(PaneId::Compare);
    harness.run_steps(4);
    assert!(harness.query_by_label_contains("Choose another moment").is_some());
    open_path(&mut harness, sample("two_devices_oom.pickle"));
    device(&mut harness).wanted_pane = Some(PaneId::Compare);
    harness.run_steps(6);
    // The other file comes before the other device.
    assert!(harness.query_by_label_contains("Peak ").is_some());
    harness.state_mut().close(0);
    harness.run_steps(6);
    assert!(wait(&mut harness, |harness| {
        harness.query_by_label_contains("two_devices_oom.pickle, device 0").is_some()
    }));
}

#[test]
fn a_closed_file_is_let_go() {
    let mut harness = edited();
    let file = harness.state_mut().documents[0].open_file().expect("an open file");
    let weak = std::sync::Arc::downgrade(file.device().expect("a device").recording.snapshot());
    harness.state_mut().close(0);
    harness.run_steps(4);
    assert!(wait(&mut harness, |_| weak.strong_count() == 0), "{} handles", weak.strong_count());
}

/// The same with the flame graph of the change, in a window that shows all of it.
fn by_stack() -> Harness<'static, App> {
    let mut harness = edited();
    harness.set_size(vec2(1500.0, 1400.0));
    harness.run_steps(3);
    harness.get_by_label("By stack").click();
    assert!(wait(&mut harness, |harness| device(harness).states.compare.flame.layout().is_some()));
    harness.run_steps(3);
    harness
}

/// The rectangle of the first frame with a label, and its middle in the window.
fn frame(harness: &mut Harness<'static, App>, label: &str) -> Option<(FlameRect, Pos2)> {
    let state = &device(harness).states.compare;
    let (changes, layout) = (state.changes()?, state.flame.layout()?);
    let name =
        |rect: &FlameRect| rect.node().map(|node| changes.names.get(changes.tree.frame(node)).label.clone());
    let rect = *layout.rects().iter().find(|rect| 0 < rect.row && name(rect).as_deref() == Some(label))?;
    let graph = harness.get_by_role_and_label(Role::Canvas, "Flame graph").rect();
    let x = graph.left() + f32::midpoint(rect.x[0], rect.x[1]);
    Some((rect, pos2(x, graph.top() + (rect.row as f32 + 0.5) * FLAME_ROW_PX)))
}

fn click_at(harness: &mut Harness<'static, App>, at: Pos2) {
    harness.drag_at(at);
    harness.run_steps(1);
    harness.drop_at(at);
    harness.run_steps(3);
}

#[test]
fn the_change_by_stack_has_the_bytes_of_both_sides() {
    let mut harness = by_stack();
    // The same line in both, whose number an edit changed.
    let (rect, at) = frame(&mut harness, "train.py:40 forward").expect("the line is there");
    assert_eq!(rect.weight, 720 << 20);
    harness.hover_at(at);
    harness.run_steps(3);
    for text in ["A: 80.0 MiB (83,886,080 bytes)", "B: 720 MiB (754,974,720 bytes)", "Change: +640 MiB"] {
        assert!(harness.query_by_label(text).is_some(), "{text}");
    }
    let root = "All stacks: 921 MiB in A, 2.62 GiB in B";
    assert!(
        harness
            .get_by_role_and_label(Role::Canvas, "Flame graph")
            .value()
            .is_some_and(|text| text.contains(root))
    );
}

#[test]
fn the_change_by_stack_zooms_selects_and_has_menus() {
    let mut harness = by_stack();
    let (leaf, at) = frame(&mut harness, "train.py:40 forward").expect("the line is there");
    click_at(&mut harness, at);
    let device_of = device(&mut harness);
    let Selection::Stack(stack) = device_of.at.selection() else { panic!("a click selects a stack") };
    assert_eq!(site_label(device_of.recording.snapshot(), stack), "train.py:40 forward");
    let (above, at) = frame(&mut harness, "train.py:51 forward").expect("its caller is there");
    assert!(above.row < leaf.row);
    click_at(&mut harness, at);
    harness.get_by_label("Reset zoom");
    let (wider, _) = frame(&mut harness, "train.py:40 forward").expect("the line is still there");
    assert!(wider.width_px() > leaf.width_px());
    // Keys go up and down.
    harness.get_by_role_and_label(Role::Canvas, "Flame graph").focus();
    harness.run_steps(2);
    for key in [Key::ArrowDown, Key::ArrowUp] {
        harness.key_press(key);
        harness.run_steps(2);
    }
    harness.get_by_label("Reset zoom").click();
    harness.run_steps(3);
    assert!(harness.query_by_label("Reset zoom").is_none());
    let (_, at) = frame(&mut harness, "train.py:40 forward").expect("the line is there");
    harness.hover_at(at);
    harness.run_steps(2);
    for pressed in [true, false] {
        let (button, modifiers) = (PointerButton::Secondary, Modifiers::NONE);
        harness.event(Event::PointerButton { pos: at, button, pressed, modifiers });
        harness.run_steps(2);
    }
    harness.get_by_label("Filter to this line").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "site:\"train.py:40 forward\"");
}

/// The curves aligned by ranges, once they are there.
fn by_range(harness: &mut Harness<'static, App>) {
    harness.get_by_label("Curves").click();
    harness.run_steps(3);
    harness.get_by_label("Ranges").click();
    harness.run_steps(3);
}

/// What the picture of both curves says that it is aligned by.
fn is_aligned_by(harness: &mut Harness<'static, App>, name: &str) -> bool {
    let words = format!("aligned by {name}");
    wait(harness, |harness| {
        let curves = harness.query_by_role_and_label(Role::Canvas, "Both curves");
        curves.and_then(|curves| curves.value()).is_some_and(|value| value == words)
    })
}

#[test]
fn curves_are_aligned_by_a_range_of_one_name() {
    let mut harness = edited();
    by_range(&mut harness);
    assert!(is_aligned_by(&mut harness, "Optimizer.step#AdamW.step"));
    harness.get_by_role_and_label(Role::ComboBox, "Optimizer.step#AdamW.step").click();
    harness.run_steps(3);
    harness.get_by_label("Optimizer.zero_grad#AdamW.zero_grad (3 in A, 3 in B)").click();
    harness.run_steps(3);
    assert!(is_aligned_by(&mut harness, "Optimizer.zero_grad#AdamW.zero_grad"));
    // The cursors go to the same range of both.
    let rect = harness.get_by_role_and_label(Role::Canvas, "Both curves").rect();
    click_at(&mut harness, pos2(rect.left() + rect.width() / 2.0, rect.center().y));
    let (ours, theirs) = cursors(&mut harness);
    assert_ne!(ours, theirs);
}

#[test]
fn curves_are_aligned_by_what_is_marked_in_both() {
    let mut harness = edited();
    let ranges = [(100, 600), (200, 900)].map(|(from, to)| MomentRange::between(Moment(from), Moment(to)));
    for (at, range) in ranges.into_iter().enumerate() {
        let file = harness.state_mut().documents[at].open_file().expect("an open file");
        file.device().expect("a device").at.draw_range(range);
    }
    by_range(&mut harness);
    assert!(is_aligned_by(&mut harness, "the marked ranges"));
    let rect = harness.get_by_role_and_label(Role::Canvas, "Both curves").rect();
    click_at(&mut harness, pos2(rect.left() + 1.0, rect.center().y));
    let (ours, theirs) = cursors(&mut harness);
    assert!((200..210).contains(&ours.0) && (100..110).contains(&theirs.0), "{ours:?} {theirs:?}");
}

#[test]
fn recordings_without_a_common_range_say_so() {
    let mut harness = harness();
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    open_path(&mut harness, sample("kv_cache_oom.pickle"));
    device(&mut harness).wanted_pane = Some(PaneId::Compare);
    harness.run_steps(6);
    by_range(&mut harness);
    assert!(harness.query_by_label_contains("No range has the same name in both recordings").is_some());
}
