//! Categories, iterations and phases in the window.

use super::*;
use crate::device::Selection;
use oomscope_analysis::{Category, RangeName};
use oomscope_draw::{ColorBy, Palette, Rgb};
use oomscope_units as units;

#[test]
fn colours_filter_details_and_lanes_say_what_memory_is_for() {
    let mut harness = harness();
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    let device = device(&mut harness);
    let found = device.derived.attribution().cloned().expect("it is found at once");
    let timeline = device.recording.timeline();
    let live = timeline.lifetimes.live_at(device.at.cursor);
    let largest = live.max_by_key(|&id| timeline.size(id));
    let largest = largest.expect("something is live at the OOM");
    assert_eq!(found.categories.get(largest), Category::Activation);
    let lanes = &device.derived.lanes.lanes;
    let first = lanes.first().and_then(|lane| lane.first()).map(|range| range.name);
    assert_eq!(first, Some(RangeName::Iteration { number: 0, is_known: true }));
    assert!(lanes.get(1).is_some_and(|lane| {
        lane.iter().any(|range| range.name.text(device.recording.snapshot()) == "forward")
    }));
    let parameter = timeline.ids().find(|&id| found.categories.get(id) == Category::Parameter);
    let parameter = parameter.expect("a model has parameters");
    device.at.color_by = ColorBy::Category;
    let coloring = device.derived.coloring(device.at.color_by, &Palette::DARK);
    let key = coloring.keys(device.recording.timeline()).into_iter().find(|key| key.label == "parameters");
    let key = key.expect("the legend has parameters");
    // Shades tell stacks apart within a category.
    let Rgb(red, green, blue) = coloring.color(device.recording.timeline(), parameter);
    assert!(red < green && green < blue, "parameters are blue");
    let Rgb(red, green, blue) = coloring.color(device.recording.timeline(), largest);
    assert!(red < blue && blue < green, "activations are green");
    assert_eq!(key.color, Palette::DARK.class(0));
    device.at.filter(key.query.expect("a category can be filtered"));
    device.at.select(Selection::Allocation(parameter));
    harness.run_steps(3);
    harness.get_by_label_contains("parameters: made, moved or loaded as a part of a module");
    let device = super::device(&mut harness);
    let matches = device.derived.matches().expect("there is a filter").clone();
    let all = device.recording.ids();
    let wrong = all.filter(|&id| matches.contains(id) != (found.categories.get(id) == Category::Parameter));
    assert_eq!(wrong.count(), 0);
}

#[test]
fn the_details_list_categories_and_filter_to_one() {
    let mut harness = harness();
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    harness.run_steps(3);
    let device = super::device(&mut harness);
    let (found, cursor) = (device.derived.attribution().expect("it is found at once"), device.at.cursor);
    let mut expected = found.categories.bytes_at(device.recording.timeline(), cursor);
    expected.sort_by_key(|row| std::cmp::Reverse(row.bytes));
    for row in expected {
        let mark = if row.inferred_bytes == row.bytes { "≈ " } else { "" };
        let name = format!("{} {mark}{}", row.category.label(), units::bytes(row.bytes));
        harness.get_by_role_and_label(Role::Button, &name);
    }
    harness.get_by_role_and_label(Role::Button, "activations 21.2 GiB").click();
    harness.run_steps(2);
    assert_eq!(super::device(&mut harness).at.query, "category:activation");
    harness.key_press_modifiers(egui::Modifiers::ALT, Key::ArrowLeft);
    harness.run_steps(2);
    assert_eq!(super::device(&mut harness).at.query, "");
}

#[test]
fn the_users_rules_hold_in_every_view_and_in_the_report() {
    let rules = UserRules::parse("[[rule]]\ncategory = 'comm'\nstack = 'forward'\n").expect("rules");
    let mut harness = harness();
    harness.state_mut().setup.rules = Arc::new(rules);
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    harness.run_steps(3);
    let device = super::device(&mut harness);
    let found = device.derived.attribution().expect("it is found at once");
    let bytes = found.categories.bytes_at(device.recording.timeline(), device.at.cursor);
    assert!(bytes.iter().any(|row| row.category == Category::Comm && 1 << 30 < row.bytes), "{bytes:?}");
    assert!(bytes.iter().all(|row| row.category != Category::Activation), "{bytes:?}");
    let report = device.derived.report().expect("it is found at once").as_ref().expect("a report");
    let text = format!("{:?}", report.diagnosis);
    assert!(text.contains("communication"), "{text}");
}
