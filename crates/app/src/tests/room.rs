//! Small windows and large text: the timeline keeps its height, and everything else can still be reached.

use super::*;
use crate::screenshots::Camera;

/// Height that the timeline keeps, in points.
const TIMELINE_PX: f32 = 160.0;

/// A sample in a window of a size in pixels, with text of a size in percent.
fn opened(camera: &Camera, name: &str, size: [f32; 2], percent: f32, theme: Theme) -> Harness<'static, App> {
    let scale = percent / 100.0;
    let mut harness = camera.harness(size, theme);
    harness.set_pixels_per_point(scale);
    harness.run_steps(3);
    assert_eq!(harness.ctx.content_rect().size(), egui::Vec2::from(size) / scale);
    open_path(&mut harness, sample(name));
    harness.run_steps(3);
    harness
}

/// The height of the timeline with its axis and its overview, and of its picture, in points.
fn heights(harness: &Harness<'static, App>) -> [f32; 2] {
    let picture = harness.get_by_role_and_label(Role::Canvas, "Allocation timeline").rect();
    let tools = harness.get_by_label("Filter").rect();
    let below = harness.get_by_label("Line below Timeline").rect();
    [below.center().y - tools.bottom(), picture.height()]
}

#[test]
fn the_timeline_keeps_its_height() {
    for name in ["frag_oom.pickle", "gpt_oom_forward.pickle", "leak_eval_losses.pickle"] {
        for size in [[900.0, 600.0], [1280.0, 800.0]] {
            for percent in [100.0, 200.0] {
                for theme in [Theme::Dark, Theme::Light] {
                    let camera = Camera::default();
                    let harness = opened(&camera, name, size, percent, theme);
                    camera.save(&harness, &format!("room_{name}_{}_{percent}_{theme:?}", size[0]));
                    let [whole, picture] = heights(&harness);
                    // 300 points are all that there is in the smallest; with 400, it is the picture alone that has them.
                    let least = if size[1] / percent < 4.0 { 0.75 * TIMELINE_PX } else { TIMELINE_PX };
                    let what = format!("{name} at {size:?} and {percent} %: {whole} {picture}");
                    assert!(TIMELINE_PX <= whole && least <= picture, "{what}");
                    assert!(harness.query_by_label("Show the report").is_none());
                }
            }
        }
    }
}

#[test]
fn a_tray_without_room_is_its_tabs_until_one_is_wanted() {
    let camera = Camera::default();
    let mut harness = opened(&camera, "frag_oom.pickle", [1280.0, 800.0], 200.0, Theme::Dark);
    let has_map = |harness: &Harness<'static, App>| {
        let map = harness.query_by_role_and_label(Role::Canvas, "Segment map");
        map.is_some_and(|map| 40.0 <= map.rect().height())
    };
    assert!(!has_map(&harness));
    let [before, _] = heights(&harness);
    harness.get_by_label("Map").click();
    harness.run_steps(4);
    camera.save(&harness, "room_tray_opened");
    assert!(has_map(&harness), "a click on a tab makes room");
    harness.get_by_label("Smaller").click();
    harness.run_steps(4);
    assert_eq!((has_map(&harness), heights(&harness)[0]), (false, before));
    harness.key_press(Key::Num1);
    harness.run_steps(4);
    assert!(has_map(&harness), "so does its key");
}

#[test]
fn normal_text_gives_everything_its_room_back() {
    let camera = Camera::default();
    let mut harness = opened(&camera, "frag_oom.pickle", [1280.0, 800.0], 200.0, Theme::Dark);
    assert!(harness.query_by_label_contains("peak active").is_none(), "the status bar gives way");
    assert!(harness.query_by_label("Copy verdict").is_none(), "and so does the second line of the header");
    harness.set_pixels_per_point(1.0);
    harness.run_steps(5);
    assert!(harness.query_by_label_contains("peak active").is_some());
    assert!(harness.query_by_label("Copy verdict").is_some());
    let map = harness.get_by_role_and_label(Role::Canvas, "Segment map").rect();
    assert!(50.0 <= map.height(), "{map:?}");
}
