//! Every pane as it looks, at two sizes: no text lies over another one, and none is cut.

use super::*;
use crate::device::PaneId;
use crate::device::Selection;
use crate::device::TimelineMode;
use crate::screenshots::Camera;
use oomscope_analysis::MomentRange;
use oomscope_draw::ColorBy;

use eframe::egui::epaint::{ClippedShape, Shape, TextShape};
use eframe::egui::{Rect, pos2, vec2};

/// Largest overlap, in points, that two neighbours have by rounding.
const TOLERANCE_PX: f32 = 1.5;

/// A text with its place in the window, and the visible part of it.
struct Text {
    words: String,
    rect: Rect,
    visible: Rect,
}

fn texts_of(shape: &Shape, clip: Rect, out: &mut Vec<Text>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| texts_of(shape, clip, out)),
        Shape::Text(TextShape { pos, galley, angle, .. }) if *angle == 0.0 => {
            for row in &galley.rows {
                let rect = row.visuals.mesh_bounds.translate(pos.to_vec2() + row.pos.to_vec2());
                let visible = rect.intersect(clip);
                if visible.is_positive() {
                    out.push(Text { words: row.text(), rect, visible });
                }
            }
        }
        _ => {}
    }
}

fn texts(harness: &Harness<'static, App>) -> Vec<Text> {
    let mut out = Vec::new();
    for ClippedShape { clip_rect, shape, .. } in &harness.output().shapes {
        texts_of(shape, *clip_rect, &mut out);
    }
    out
}

/// Descriptions of texts that are cut or lie over another one.
fn faults(texts: &[Text]) -> Vec<String> {
    let mut faults = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        if text.visible.width() + TOLERANCE_PX < text.rect.width() {
            faults.push(format!("{:?} is cut at {:?}", text.words, text.visible));
        }
        for other in &texts[at + 1..] {
            let shared = text.visible.intersect(other.visible);
            if TOLERANCE_PX < shared.width() && TOLERANCE_PX < shared.height() {
                faults.push(format!("{:?} lies over {:?} at {shared:?}", other.words, text.words));
            }
        }
    }
    faults
}

const PANES: [PaneId; 14] = [
    PaneId::Report,
    PaneId::Fixes,
    PaneId::Segments,
    PaneId::SegmentTimeline,
    PaneId::Stacks,
    PaneId::Holes,
    PaneId::MemorySummary,
    PaneId::Range,
    PaneId::Allocations,
    PaneId::Events,
    PaneId::Iterations,
    PaneId::Modules,
    PaneId::Compare,
    PaneId::Notes,
];

/// Check every pane on a sample, in both themes at a size. Their pictures are kept for looking at.
fn check(name: &str, size: [f32; 2], prepare: impl Fn(&mut Harness<'static, App>)) {
    let mut faults_of_all = Vec::new();
    for theme in [Theme::Dark, Theme::Light] {
        let camera = Camera::default();
        let mut harness = camera.harness(size, theme);
        open_path(&mut harness, sample(name));
        prepare(&mut harness);
        for pane in PANES {
            device(&mut harness).wanted_pane = Some(pane);
            harness.run_steps(4);
            let stem = name.split('.').next().unwrap_or(name);
            let picture = format!("{stem}_{pane:?}_{}_{theme:?}", size[0]);
            camera.save(&harness, &picture);
            let mut shown = texts(&harness);
            // Tabs that do not fit are scrolled, and cut at the edge.
            shown.retain(|text| crate::panes::by_name(&text.words).is_none() && !is_scrolled(text, size));
            let found = faults(&shown);
            faults_of_all.extend(found.into_iter().map(|fault| format!("{picture}: {fault}")));
        }
    }
    assert!(faults_of_all.is_empty(), "{}", faults_of_all.join("\n"));
}

/// A text that is scrolled sideways: it starts in sight, and ends beyond the right edge of the tray.
fn is_scrolled(text: &Text, size: [f32; 2]) -> bool {
    let is_narrow = size[0] < 1000.0;
    is_narrow && size[1] / 2.0 < text.rect.top() && text.visible.left() == text.rect.left()
}

#[test]
fn overlaps_and_cuts_are_found() {
    let text = |text: &str, x: f32, width: f32, seen: f32| {
        let rect = |width| Rect::from_min_size(pos2(x, 5.0), vec2(width, 10.0));
        Text { words: text.to_owned(), rect: rect(width), visible: rect(seen) }
    };
    assert!(faults(&[text("a", 0.0, 20.0, 20.0), text("b", 20.5, 9.0, 9.0)]).is_empty());
    assert_eq!(faults(&[text("a", 0.0, 20.0, 20.0), text("b", 15.0, 9.0, 9.0)]).len(), 1);
    assert_eq!(faults(&[text("a", 0.0, 20.0, 12.0)]).len(), 1);
}

#[test]
fn most_of_a_small_screen_is_data() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    harness.run_steps(4);
    let plot = harness.get_by_role_and_label(Role::Canvas, "Allocation timeline").rect();
    assert!(0.45 * 800.0 <= plot.height(), "{plot:?}");
    harness.get_by_label("Larger").click();
    harness.run_steps(3);
    let map = harness.get_by_role_and_label(Role::Canvas, "Segment map").rect();
    assert!(200.0 < map.height(), "{map:?}");
    harness.get_by_label("Smaller").click();
    harness.set_size(vec2(900.0, 600.0));
    harness.run_steps(4);
    for canvas in ["Allocation timeline", "Segment map"] {
        let rect = harness.get_by_role_and_label(Role::Canvas, canvas).rect();
        assert!(40.0 <= rect.height() && 400.0 <= rect.width(), "{canvas}: {rect:?}");
    }
    harness.set_size(vec2(2560.0, 1440.0));
    harness.run_steps(4);
    let [plot, map] = ["Allocation timeline", "Segment map"]
        .map(|canvas| harness.get_by_role_and_label(Role::Canvas, canvas).rect());
    assert!(plot.right() < map.left(), "the tray stands beside the timeline");
}

#[test]
fn panes_in_a_small_window() {
    check("frag_oom.pickle", [900.0, 600.0], |_| ());
}

#[test]
fn panes_of_an_oom_by_fragmentation() {
    check("frag_oom.pickle", [1280.0, 800.0], |_| ());
    check("frag_oom.pickle", [2560.0, 1440.0], |_| ());
}

#[test]
fn panes_with_a_selected_allocation_and_a_filter() {
    check("gpt_oom_forward.pickle", [1280.0, 800.0], |harness| {
        let device = device(harness);
        let largest = {
            let live = device.recording.lifetimes.live_at(device.at.cursor);
            live.max_by_key(|&id| device.recording.size(id))
        };
        device.at.select(Selection::Allocation(largest.expect("something is live")));
        device.at.filter("size>1MiB".to_owned());
        device.at.draw_range(MomentRange::between(Moment(300), Moment(900)));
        device.at.timeline_mode = TimelineMode::Segments;
        harness.run_steps(3);
    });
}

#[test]
fn panes_with_annotations_and_pools() {
    check("annotated.pickle", [1280.0, 800.0], |harness| device(harness).at.color_by = ColorBy::Size);
    check("pools.pickle", [1280.0, 800.0], |harness| device(harness).at.color_by = ColorBy::Pool);
}

#[test]
fn panes_of_a_recording_without_history() {
    check("history_state_only.pickle", [1280.0, 800.0], |_| ());
}

/// Sizes of pages that have to fit into a small window, too.
const ALSO_SMALL: [[f32; 2]; 3] = [[900.0, 600.0], [1280.0, 800.0], [2560.0, 1440.0]];

/// Check a page that is no pane, in both themes and sizes.
fn check_page(name: &str, prepare: impl Fn(&mut Harness<'static, App>)) {
    check_page_at(name, &[[1280.0, 800.0], [2560.0, 1440.0]], prepare);
}

fn check_page_at(name: &str, sizes: &[[f32; 2]], prepare: impl Fn(&mut Harness<'static, App>)) {
    let mut faults_of_all = Vec::new();
    for &size in sizes {
        for theme in [Theme::Dark, Theme::Light] {
            let camera = Camera::default();
            let mut harness = camera.harness(size, theme);
            prepare(&mut harness);
            harness.run_steps(4);
            let picture = format!("{name}_{}_{theme:?}", size[0]);
            camera.save(&harness, &picture);
            let found = faults(&texts(&harness));
            faults_of_all.extend(found.into_iter().map(|fault| format!("{picture}: {fault}")));
        }
    }
    assert!(faults_of_all.is_empty(), "{}", faults_of_all.join("\n"));
}

/// Check a view in use, in both themes at the size of a small screen.
fn check_use(name: &str, file: &str, prepare: impl Fn(&mut Harness<'static, App>)) {
    for size in [[900.0, 600.0], [1280.0, 800.0], [2560.0, 1440.0]] {
        for theme in [Theme::Dark, Theme::Light] {
            let camera = Camera::default();
            let mut harness = camera.harness(size, theme);
            open_path(&mut harness, sample(file));
            prepare(&mut harness);
            harness.run_steps(4);
            let picture = format!("{name}_{}_{theme:?}", size[0]);
            camera.save(&harness, &picture);
            let mut shown = texts(&harness);
            // Tabs that do not fit are scrolled, and cut at the edge.
            shown.retain(|text| crate::panes::by_name(&text.words).is_none() && !is_scrolled(text, size));
            let found = faults(&shown);
            assert!(found.is_empty(), "{picture}: {}", found.join("\n"));
        }
    }
}

#[test]
fn a_selected_allocation_with_its_details() {
    check_use("details", "gpt_oom_forward.pickle", |harness| {
        let device = device(harness);
        let live = device.recording.lifetimes.live_at(device.at.cursor);
        let largest = live.max_by_key(|&id| device.recording.size(id));
        device.at.select(Selection::Allocation(largest.expect("something is live")));
    });
}

#[test]
fn a_finding_whose_blocks_are_outlined() {
    check_use("finding", "leak_eval_losses.pickle", |harness| {
        harness.get_by_label_contains("blocks in all views").click();
    });
}

#[test]
fn two_recordings_side_by_side() {
    let prepare = |body: &'static str| {
        move |harness: &mut Harness<'static, App>| {
            open_path(harness, sample("after_edit.pickle.gz"));
            device(harness).wanted_pane = Some(PaneId::Compare);
            harness.run_steps(4);
            harness.query_by_label("Larger").iter().for_each(|larger| larger.click());
            harness.run_steps(2);
            harness.get_by_label(body).click();
        }
    };
    check_use("compare", "before_edit.pickle.gz", prepare("By line"));
    check_use("compare_stacks", "before_edit.pickle.gz", prepare("By stack"));
    check_use("compare_curves", "before_edit.pickle.gz", prepare("Curves"));
    check_use("compare_ranges", "before_edit.pickle.gz", |harness| {
        prepare("Curves")(harness);
        harness.run_steps(3);
        harness.get_by_label("Ranges").click();
        harness.run_steps(6);
    });
}

#[test]
fn a_range_with_what_it_kept() {
    check_use("range", "leak_eval_losses.pickle", |harness| {
        let device = device(harness);
        let (from, to) = (Moment(330), Moment(1600));
        device.at.draw_range(MomentRange::between(from, to));
        device.wanted_pane = Some(PaneId::Range);
        harness.run_steps(2);
        // Where the tray stands beside the timeline, it is large already.
        harness.query_by_label("Larger").iter().for_each(|larger| larger.click());
    });
}

#[test]
fn the_start_page() {
    check_page_at("start", &ALSO_SMALL, |_| ());
    check_page_at("start_with_recent", &ALSO_SMALL, |harness| {
        for name in ["frag_oom.pickle", "two_devices_oom.pickle", "history_state_only.pickle"] {
            open_path(harness, sample(name));
            harness.run_steps(2);
            harness.state_mut().close(0);
        }
        harness.state_mut().glances.may_scan = true;
        // What the README says of samples stands there until their verdicts are known.
        assert!(wait(harness, |harness| harness
            .query_by_label_contains("each iteration a little")
            .is_none()));
    });
}

#[test]
fn a_folder_of_snapshots() {
    check_page_at("folder", &ALSO_SMALL, |harness| {
        harness.state_mut().glances.may_scan = true;
        let ctx = harness.ctx.clone();
        harness.state_mut().open(Input::File(sample("")), &ctx);
        let is_done = |harness: &mut Harness<'static, App>| {
            harness.query_by_label("List again").is_some()
                && harness.query_by_label_contains("not looked at yet").is_none()
        };
        assert!(wait(harness, is_done));
    });
}

#[test]
fn the_ranks_of_a_job() {
    check_page_at("ranks", &ALSO_SMALL, |harness| {
        let ctx = harness.ctx.clone();
        harness.state_mut().open(Input::File(sample("ranks")), &ctx);
        assert!(wait(harness, |harness| harness.query_by_label("Ranks").is_some()));
        harness.get_by_label("Ranks").click();
        assert!(wait(harness, |harness| harness.query_by_label_contains("Rank 3 is an outlier").is_some()));
    });
}

#[test]
fn many_tabs_and_several_devices() {
    check_page("tabs", |harness| {
        for name in ["gpt_oom_expandable.pickle", "leak_eval_losses.pickle", "history_state_only.pickle"] {
            open_path(harness, sample(name));
        }
        (0..6).for_each(|_| open_path(harness, sample("two_devices_oom.pickle")));
        let file = harness.state_mut().documents[8].open_file().expect("an open file");
        file.current = 0;
    });
}

#[test]
fn a_file_that_cannot_be_read() {
    check_page("refused", |harness| drop(open(harness, b"This is no snapshot.")));
}

#[test]
fn a_file_that_is_cut_off() {
    let whole = snapshot_pickle();
    check_page("cut", |harness| drop(open(harness, &whole[..whole.len() * 9 / 10])));
}

#[test]
fn what_is_offered_is_whole_however_it_was_written() {
    let camera = Camera::default();
    let mut harness = camera.harness([1280.0, 800.0], Theme::Dark);
    open_path(&mut harness, sample("frag_oom.pickle"));
    harness.key_press(Key::Slash);
    harness.run_steps(2);
    // On the way there is an error, for which the popup is small.
    for letter in "size:>5".chars() {
        harness.event(egui::Event::Text(letter.to_string()));
        harness.run_steps(4);
    }
    camera.save(&harness, "offers");
    for offer in ["5KiB", "5MiB", "5GiB"] {
        let all = texts(&harness);
        let text = all.iter().find(|text| text.words == offer).expect("it is offered");
        assert!(text.rect.height() <= text.visible.height() + TOLERANCE_PX, "{offer} is cut");
    }
}

#[test]
fn notes_and_the_field_that_they_are_written_in() {
    let long = "the second pass allocates larger blocks than the first one, and nothing of it fits into what is free";
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        for theme in [Theme::Dark, Theme::Light] {
            let camera = Camera::default();
            let mut harness = camera.harness(size, theme);
            // Notes are written beside the file.
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path().join("frag_oom.pickle");
            std::fs::copy(sample("frag_oom.pickle"), &path).expect("a temporary file");
            open_path(&mut harness, path);
            for (event, text) in [(2528, "this request failed"), (1200, long), (700, "the first holes")] {
                let place = format!("event={event} range=100..2600 filter=\"site:index.py:60 live\"");
                let place = place.parse().expect("a place");
                device(&mut harness)
                    .notebook
                    .add(oomscope_report::notes::Note { text: text.to_owned(), place });
            }
            device(&mut harness).wanted_pane = Some(PaneId::Notes);
            harness.run_steps(4);
            let name = format!("notes_{}_{theme:?}", size[0]);
            camera.save(&harness, &name);
            // The line of tabs above scrolls where it is too narrow for all.
            let top = harness.get_by_label("New note").rect().top();
            let mut shown = texts(&harness);
            shown.retain(|text| top <= text.rect.top());
            assert_eq!(faults(&shown), Vec::<String>::new());
            device(&mut harness).begin_note();
            harness.run_steps(20);
            // The field lies over what is below it.
            camera.save(&harness, &format!("{name}_field"));
        }
    }
}
