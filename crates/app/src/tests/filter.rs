//! The filter in the window.

use super::*;
use crate::device::Selection;
use crate::device::filtering::FilterMode;
use crate::timeline::pictures::TimelinePictures;
use oomscope_analysis::site_label;
use oomscope_draw::Pixel;

use eframe::egui::Event;

/// Focus the filter with its key, and write.
fn write(harness: &mut Harness<'static, App>, text: &str) {
    harness.key_press(Key::Slash);
    harness.run_steps(2);
    harness.event(Event::Text(text.to_owned()));
    harness.run_steps(3);
}

/// True if the picture has any block.
fn has_blocks(harness: &mut Harness<'static, App>) -> bool {
    let pictures = device(harness).states.timeline.pictures.as_ref();
    let shown = pictures.and_then(TimelinePictures::shown).expect("a picture");
    let [width, height] = shown.picture.raster.size_px;
    (0..width).any(|x| (0..height).any(|y| matches!(shown.picture.raster.pixel(x, y), Pixel::Block(_))))
}

#[test]
fn a_filter_shows_what_matches_now_and_at_its_peak() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    write(&mut harness, "size>3MB");
    assert_eq!(device(&mut harness).at.query, "size>3MB");
    assert!(harness.query_by_role_and_label(Role::TextInput, "Filter").is_some());
    assert!(harness.query_by_label("8.00 MiB of 10.0 MiB at the cursor, at most").is_some());
    assert!(harness.query_by_label("· 2 of 3 allocations").is_some());
    assert!(harness.query_by_label("8.00 MiB of 10.0 MiB match in 1 block").is_some());
    harness.get_by_role_and_label(Role::Link, "12.0 MiB").click();
    harness.run_steps(3);
    assert_eq!(cursor(&mut harness), Moment(3));
    assert!(harness.query_by_label("12.0 MiB of 12.0 MiB at the cursor, at most").is_some());
}

#[test]
fn what_a_line_allocates_is_found_from_the_details_and_left_again() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    let (stack, of_line) = {
        let device = device(&mut harness);
        let live = device.recording.lifetimes.live_at(device.at.cursor);
        let id = live.last().expect("something is live");
        device.at.select(Selection::Allocation(id));
        let snapshot = device.recording.snapshot();
        let label = |stack| site_label(snapshot, stack);
        let stack = device.recording.stack(id);
        let same = device.recording.ids().filter(|&id| label(device.recording.stack(id)) == label(stack));
        (stack, same.count())
    };
    harness.run_steps(3);
    harness.get_by_role_and_label(Role::Link, "filter to this site").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).derived.matches().expect("a filter").count(), of_line);
    assert!(1 < of_line);
    let device = device(&mut harness);
    device.at.back();
    assert_eq!(device.at.query, "");
    assert_eq!(device.at.selected_stack(), Some(stack));
    device.at.forward();
    assert!(device.at.query.starts_with("site:"));
}

#[test]
fn a_query_that_was_written_can_be_left_again() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    write(&mut harness, "size>3MB");
    harness.key_press(Key::Enter);
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "size>3MB");
    harness.key_press_modifiers(eframe::egui::Modifiers::ALT, Key::ArrowLeft);
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "");
}

#[test]
fn what_does_not_match_fades_or_is_left_out() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    assert!(device(&mut harness).derived.matches().is_none());
    write(&mut harness, "size>1GB");
    assert!(harness.query_by_label("nothing matches").is_some());
    assert!(has_blocks(&mut harness));
    harness.get_by_label("Only").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.filter_mode, FilterMode::Only);
    assert!(!has_blocks(&mut harness));
    harness.get_by_label("Clear").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "");
    assert!(device(&mut harness).derived.matches().is_none());
    assert!(has_blocks(&mut harness));
    assert!(harness.query_by_label("Clear").is_none());
}

#[test]
fn the_segment_timeline_follows_the_filter() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    device(&mut harness).wanted_pane = Some(crate::device::PaneId::SegmentTimeline);
    harness.run_steps(3);
    let picture = |harness: &mut Harness<'static, App>| {
        let pictures = device(harness).states.segment_timeline.pictures.as_mut().expect("the pane is open");
        pictures.shown().expect("a picture").picture.raster.rgba.clone()
    };
    let all = picture(&mut harness);
    device(&mut harness).at.query = "size>3MB".to_owned();
    harness.run_steps(3);
    let some = picture(&mut harness);
    assert_ne!(some, all);
    device(&mut harness).at.query.clear();
    harness.run_steps(3);
    assert_eq!(picture(&mut harness), all);
}

#[test]
fn a_bad_query_says_what_is_wrong_and_keeps_what_was_found() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    device(&mut harness).at.query = "size>3MB".to_owned();
    harness.run_steps(2);
    device(&mut harness).at.query = "size>3MB strem:0".to_owned();
    harness.run_steps(2);
    let error = "there is no key \"strem\"; did you mean stream?";
    assert!(harness.query_by_label(error).is_some());
    assert_eq!(device(&mut harness).derived.matches().map(|matches| matches.count()), Some(2));
    harness.key_press(Key::Slash);
    harness.run_steps(3);
    assert!(harness.query_by_label(error).is_some());
    harness.get_by_label("Write stream").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "size>3MB stream:0");
    assert!(harness.query_by_label(error).is_none());
    assert_eq!(device(&mut harness).derived.matches().map(|matches| matches.count()), Some(2));
}

#[test]
fn a_value_that_is_not_on_the_list_says_which_is_meant() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    device(&mut harness).at.query = "category:actvation".to_owned();
    harness.run_steps(2);
    assert!(harness.query_by_label_contains("did you mean activation?").is_some());
    harness.key_press(Key::Slash);
    harness.run_steps(3);
    harness.get_by_label("Write activation").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "category:activation");
    assert!(harness.query_by_label_contains("did you mean").is_none());
}

#[test]
fn completions_are_taken_with_the_keyboard() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    write(&mut harness, "sta");
    harness.key_press(Key::Tab);
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "stack:");
    harness.event(Event::Text("att".to_owned()));
    harness.run_steps(3);
    harness.key_press(Key::ArrowDown);
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "stack:attention ");
    harness.event(Event::Text("li".to_owned()));
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("live at the cursor").is_some());
    harness.key_press(Key::Escape);
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("live at the cursor").is_none());
    // The field still has the keyboard: keys that mean something elsewhere are text.
    harness.event(Event::Text("ve".to_owned()));
    harness.key_press(Key::P);
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "stack:attention live");
    assert_eq!(cursor(&mut harness), Moment(7));
    assert_eq!(device(&mut harness).derived.matches().map(|matches| matches.count()), Some(2));
    harness.key_press(Key::Escape);
    harness.key_press(Key::Escape);
    harness.run_steps(3);
    harness.key_press(Key::P);
    harness.run_steps(3);
    assert_eq!(cursor(&mut harness), Moment(4));
    assert_eq!(device(&mut harness).derived.matches().map(|matches| matches.count()), Some(3));
}

#[test]
fn a_completion_can_be_clicked() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    harness.key_press(Key::Slash);
    harness.run_steps(3);
    harness.get_by_label_contains("never freed in the recording").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "kept ");
    assert_eq!(device(&mut harness).derived.matches().map(|matches| matches.count()), Some(2));
}

#[test]
fn a_filter_that_is_looked_for_in_the_background_is_found() {
    let mut harness = harness_with(WorkMode::Background);
    let _folder = open(&mut harness, &snapshot_pickle());
    let patience = Instant::now() + Duration::from_secs(20);
    for (query, found) in [("size>3MB", Some(2)), ("live", Some(2)), ("", None)] {
        device(&mut harness).at.query = query.to_owned();
        let is_found = |harness: &mut Harness<'static, App>| {
            let matches = device(harness).derived.matches();
            matches.map(|matches| matches.count()) == found
                && matches.is_none_or(|matches| matches.known_peak().is_some())
        };
        while !is_found(&mut harness) && Instant::now() < patience {
            harness.step();
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(is_found(&mut harness), "{query}");
    }
}
