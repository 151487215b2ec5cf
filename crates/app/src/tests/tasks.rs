//! The questions of docs/performance.md, replayed: the clicks that it counts lead to the answers, at all sizes.

use super::*;
use crate::screenshots::Camera;
use eframe::egui::{Rect, Vec2};

/// A question, the clicks that answer it, and texts that then are in sight.
struct Task {
    sample: &'static str,
    /// Labels that are clicked one after another.
    clicks: &'static [&'static str],
    /// What is clicked after that where the tray lies below the timeline.
    below: &'static [&'static str],
    /// Parts of the answer, each in some text in sight.
    answer: &'static [&'static str],
}

/// Sizes of small, usual and large screens.
const SIZES: [[f32; 2]; 3] = [[900.0, 600.0], [1280.0, 800.0], [2560.0, 1440.0]];

const FRAGMENTED: &str = "frag_oom.pickle";

const TASKS: [Task; 7] = [
    Task {
        sample: "gpt_oom_forward.pickle",
        clicks: &[],
        below: &[],
        answer: &["Out of memory", "activations", "model.py"],
    },
    Task { sample: FRAGMENTED, clicks: &[], below: &[], answer: &["index.py:60 add: keeps 1.44 GiB unused"] },
    Task {
        sample: FRAGMENTED,
        clicks: &["Show these 43 blocks in all views"],
        below: &[],
        answer: &["43 blocks of the report"],
    },
    Task {
        sample: "leak_bank.pickle.gz",
        clicks: &["Iterations"],
        below: &["Larger"],
        answer: &["7, 1,011–1,160, 1.97 GiB"],
    },
    Task {
        sample: FRAGMENTED,
        clicks: &[],
        below: &[],
        answer: &["expandable_segments:True", "simulated: would finish the step"],
    },
    Task {
        sample: FRAGMENTED,
        clicks: &["show all fixes"],
        below: &[],
        answer: &["Set expandable_segments to True"],
    },
    Task {
        sample: "two_devices_oom.pickle",
        clicks: &[],
        below: &[],
        answer: &["device 1", "Out of memory"],
    },
];

#[test]
fn questions_are_answered_with_the_clicks_that_are_documented() {
    for size in SIZES {
        for Task { sample: name, clicks, below, answer } in &TASKS {
            let mut harness = Camera::default().harness(size, Theme::Dark);
            open_path(&mut harness, sample(name));
            let below = if size[0] < 2000.0 { below } else { &[][..] };
            for label in clicks.iter().chain(below) {
                let places = in_sight(&harness, size, label);
                assert!(!places.is_empty(), "{name} at {size:?}: {label:?} is not in sight");
                let at = places[0].center();
                click_at(&mut harness, at);
                harness.run_steps(6);
            }
            for part in *answer {
                assert!(
                    !in_sight(&harness, size, part).is_empty(),
                    "{name} at {size:?}: no {part:?} in sight"
                );
            }
        }
    }
}

/// The places of everything in sight with a text in its name.
fn in_sight(harness: &Harness<'static, App>, size: [f32; 2], text: &str) -> Vec<Rect> {
    let screen = Rect::from_min_size(Default::default(), Vec2::from(size));
    let places = harness.query_all_by_label_contains(text).map(|node| node.rect());
    places.filter(|place| screen.contains(place.center())).collect()
}

fn click_at(harness: &mut Harness<'static, App>, at: egui::Pos2) {
    harness.event(egui::Event::PointerMoved(at));
    harness.run_steps(1);
    for pressed in [true, false] {
        let (button, modifiers) = (egui::PointerButton::Primary, egui::Modifiers::NONE);
        harness.event(egui::Event::PointerButton { pos: at, button, pressed, modifiers });
        harness.run_steps(1);
    }
}
