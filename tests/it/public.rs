//! Categories on recordings of other people, against labels made by hand from their programs' sources.

use crate::support::{shared, skipped, stem};
use oomscope_analysis::{At, Attribution, UserRules};
use oomscope_model::{DeviceId, Recording};
use oomscope_snapshot::load::{Input, Progress, load};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Of all bytes whose category is stated, the share that must be right.
const WANTED_PRECISION: f64 = 0.99;

/// Of all labelled bytes, the share that must be right.
const WANTED_COVERAGE: f64 = 0.90;

/// Bytes of a file that are labelled, and of these the right ones and those of which nothing is stated.
#[derive(Debug, Default)]
struct Score {
    right: i64,
    unknown: i64,
    all: i64,
}

impl Score {
    /// Add a block that may be any of some categories.
    fn add(&mut self, size: i64, given: &str, wanted: &[&str]) {
        self.all += size;
        self.unknown += if given == "unknown" { size } else { 0 };
        self.right += if wanted.contains(&given) { size } else { 0 };
    }

    /// Add blocks of one size, of which the labels only say how many there are of each category.
    fn add_group(&mut self, group: &Value, stated: &HashMap<String, (i64, &'static str)>) {
        let size = group["size"].as_i64().expect("a size");
        let mut left: HashMap<&str, u64> = group["counts"]
            .as_object()
            .expect("counts")
            .iter()
            .map(|(category, count)| (category.as_str(), count.as_u64().expect("a count")))
            .collect();
        for key in group["keys"].as_array().expect("keys") {
            let given = stated.get(key.as_str().expect("a key")).map_or("unknown", |(_, category)| category);
            let is_left = left.get_mut(given).filter(|count| 0 < **count).map(|count| *count -= 1).is_some();
            self.add(size, given, &[given][usize::from(!is_left)..]);
        }
    }
}

fn score(pickle: &Path) -> Option<Score> {
    let labels = pickle.with_file_name(format!("{}.labels.json", stem(pickle)));
    let labels: Value = serde_json::from_slice(&std::fs::read(labels).ok()?).expect("the labels are JSON");
    let snapshot = load(&Input::File(pickle.to_owned()), &Progress::default()).expect("the recording loads");
    let device = DeviceId(labels["device"].as_i64().expect("a device"));
    let recording = Recording::of_device(&Arc::new(snapshot), device).expect("the device is there");
    let at = match labels["moment"].as_str().expect("a moment") {
        "peak" => At::Peak,
        "oom" => At::Oom,
        "end" => At::End,
        event => At::Event(event.parse().expect("an event")),
    };
    let moment = at.moment(&recording).expect("the moment is there");
    let found = Attribution::of(&recording, &UserRules::default()).categories;
    let stated: HashMap<String, (i64, &'static str)> = recording
        .lifetimes
        .live_at(moment)
        .map(|id| {
            let block = recording.allocation(id);
            let event = block.alloc_event().map_or(-1, |event| i64::from(event.0));
            (format!("{:#x}@{event}", block.addr), (block.size.0, found.get(id).key()))
        })
        .collect();
    let mut score = Score::default();
    let groups = labels["groups"].as_array().expect("groups");
    for group in groups {
        score.add_group(group, &stated);
    }
    let is_grouped = |key: &str| {
        groups.iter().any(|group| group["keys"].as_array().is_some_and(|keys| keys.iter().any(|k| k == key)))
    };
    for (key, wanted) in labels["labels"].as_object().expect("labels") {
        let Some(&(size, given)) = stated.get(key) else { continue };
        let wanted: Vec<&str> = match wanted {
            Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        if !is_grouped(key) {
            score.add(size, given, &wanted);
        }
    }
    Some(score)
}

#[test]
fn what_is_stated_of_recordings_of_others_is_right() {
    let Some(folder) = shared("public") else {
        skipped("no recordings of others in ../shared");
        return;
    };
    let (mut report, mut all) = (String::new(), Score::default());
    for pickle in crate::support::pickles_in(&folder, false) {
        let Some(score) = score(&pickle) else { continue };
        let percent = |bytes: i64| 100.0 * bytes as f64 / score.all.max(1) as f64;
        let (right, unknown) = (percent(score.right), percent(score.unknown));
        writeln!(report, "{:24} {right:6.2} % right, {unknown:6.2} % unknown", stem(&pickle)).expect("text");
        all = Score {
            right: all.right + score.right,
            unknown: all.unknown + score.unknown,
            all: all.all + score.all,
        };
    }
    let precision = all.right as f64 / (all.all - all.unknown) as f64;
    let coverage = all.right as f64 / all.all as f64;
    println!("{report}precision {precision:.4}, coverage {coverage:.4}");
    assert!(WANTED_PRECISION <= precision && WANTED_COVERAGE <= coverage, "{precision} {coverage}\n{report}");
}
