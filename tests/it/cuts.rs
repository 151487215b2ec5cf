//! A part of a recording is a recording: read again, it says of its moments what the whole says of them.

use crate::support::{json, load_bytes, pickles_in, root, run, sample, shared, stdout};
use oomscope_analysis::filter::{Filter, Prepared};
use oomscope_analysis::segment_state::Contradictions;
use oomscope_analysis::{Attribution, SegmentIndex, UserRules};
use oomscope_export::cut::{CutOptions, DeviceRange, Lost, cut};
use oomscope_model::{
    AllocId, Anchor, Anomaly, Bytes, Event, EventIx, FrameId, Moment, Recording, Snapshot, StackId, StrId,
    Timeline,
};
use oomscope_snapshot::load::{Input, Progress, load};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Moments of a range at which everything that is live is compared.
const COMPARED_MOMENTS: u32 = 12;

/// Recordings of every kind and version.
fn recordings() -> Vec<PathBuf> {
    let mut found = pickles_in(&root().join("sample_snapshots"), false);
    for folder in ["real", "rig"] {
        found.extend(shared(folder).map(|folder| pickles_in(&folder, true)).unwrap_or_default());
    }
    found
}

fn read(path: &Path) -> Arc<Snapshot> {
    Arc::new(load(&Input::File(path.to_owned()), &Progress::default()).expect("a snapshot"))
}

/// A cut, read again, and what it had to leave out.
fn cut_and_read(snapshot: &Snapshot, ranges: &[DeviceRange]) -> (Arc<Snapshot>, Lost) {
    cut_with(snapshot, ranges, CutOptions::default())
}

fn cut_with(snapshot: &Snapshot, ranges: &[DeviceRange], options: CutOptions) -> (Arc<Snapshot>, Lost) {
    let mut pickle = Vec::new();
    let cut = cut(snapshot, ranges, options);
    cut.write(&mut pickle).expect("memory can be written");
    let found = load_bytes(&pickle).expect("a cut is a snapshot");
    assert_eq!((&found.damage, &found.unknown_keys[..], &found.issues[..]), (&None, &[][..], &[][..]));
    (found, cut.lost)
}

fn whole(snapshot: &Arc<Snapshot>) -> Vec<DeviceRange> {
    let whole = |recording: Recording| DeviceRange {
        events: 0..recording.events.len() as u32,
        recording,
        matches: None,
    };
    Recording::all(snapshot).map(whole).collect()
}

fn text(snapshot: &Snapshot, id: Option<StrId>) -> Option<String> {
    id.map(|id| snapshot.strings.whole(id).into_owned())
}

/// A stack as text, with everything that its frames have.
fn stack(snapshot: &Snapshot, id: StackId) -> Vec<String> {
    let frame = |&id| {
        let frame = snapshot.frames.get(id);
        let fx = snapshot.frames.fx(frame);
        let fx = fx.map(|fx| [fx.op, fx.name, fx.target, fx.trace].map(|id| text(snapshot, id)));
        let [file, name] = [frame.file, frame.name].map(|id| snapshot.strings.whole(id));
        format!("{file}:{}:{name}:{fx:?}", frame.line)
    };
    snapshot.recorded_stacks().frames(id).iter().map(frame).collect()
}

/// An event without ids that mean something in its file alone.
fn event(recording: &Recording, at: u32) -> impl PartialEq + std::fmt::Debug + use<> {
    let snapshot = recording.snapshot();
    let event = recording.events.get(EventIx(at));
    let texts = [event.compile_context, event.user_metadata, event.internal_metadata, event.category]
        .map(|id| text(snapshot, id));
    let stacks = [event.stack, event.forward_stack].map(|id| stack(snapshot, id));
    let plain = Event {
        compile_context: None,
        user_metadata: None,
        internal_metadata: None,
        category: None,
        stack: StackId::EMPTY,
        forward_stack: StackId::EMPTY,
        ..event
    };
    (snapshot.actions.name(event.action, &snapshot.strings).into_owned(), format!("{plain:?}"), texts, stacks)
}

/// Address, size and state of what is live at a moment.
fn live(timeline: &Timeline, moment: Moment) -> BTreeMap<u64, (Bytes, bool)> {
    let lifetimes = &timeline.lifetimes;
    let row = |id: AllocId| {
        let awaits = timeline.allocation(id).is_awaiting_at(moment);
        (timeline.addr(id), (timeline.size(id), awaits))
    };
    lifetimes.live_at(moment).map(row).collect()
}

/// The reserved addresses at a moment, without the borders of pages that were mapped one after the other.
fn reserved(timeline: &Timeline, moment: Moment) -> Vec<[u64; 2]> {
    let mut ranges: Vec<[u64; 2]> =
        timeline.ranges.live_at(moment).map(|range| [range.addr, range.past_end()]).collect();
    ranges.sort_unstable();
    ranges.dedup_by(|range, before| {
        let touches = range[0] == before[1];
        if touches {
            before[1] = range[1];
        }
        touches
    });
    ranges
}

fn compare_range(name: &str, all: &Recording, part: &Recording, range: &Range<u32>) {
    assert_eq!(part.events.len(), range.len(), "{name} {range:?}");
    for (at, of_all) in range.clone().enumerate() {
        let found = event(part, at as u32);
        assert_eq!(found, event(all, of_all), "{name} {range:?} event {of_all}");
    }
    for at in 0..=range.len() as u32 {
        let (here, there) = (Moment(at), Moment(range.start + at));
        let totals = |timeline: &Timeline, moment| {
            [timeline.active.at(moment), timeline.allocated.at(moment), timeline.reserved.at(moment)]
        };
        assert_eq!(totals(part, here), totals(all, there), "{name} {range:?} at {there:?}");
    }
    let step = (range.len() as u32 / COMPARED_MOMENTS).max(1);
    for at in (0..=range.len() as u32).step_by(step as usize).chain([range.len() as u32]) {
        let (here, there) = (Moment(at), Moment(range.start + at));
        assert_eq!(live(part, here), live(all, there), "{name} {range:?} live at {there:?}");
        assert_eq!(reserved(part, here), reserved(all, there), "{name} {range:?} reserved at {there:?}");
    }
}

/// Whether events and segments say the same, and every free was requested, so that a cut can say the same.
fn is_consistent(recording: &Recording) -> bool {
    let end = Moment(recording.events.len() as u32);
    let map = SegmentIndex::new(recording).at(recording, end);
    recording.anchor == Anchor::EndState
        && recording.anomalies.total() == 0
        && map.contradictions == Contradictions::default()
        && recording
            .ids()
            .all(|id| recording.lifetimes.end(id).is_none() || recording.lifetimes.requested(id).is_some())
}

#[test]
fn a_cut_of_everything_has_the_same_figures_to_the_byte() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for path in recordings() {
        let snapshot = read(&path);
        if snapshot.damage.is_some() {
            continue;
        }
        let (again, _) = cut_and_read(&snapshot, &whole(&snapshot));
        let name = path.to_string_lossy();
        assert_eq!(again.timelines.len(), snapshot.timelines.len(), "{name}");
        assert_eq!(
            (&again.settings, again.annotations.len()),
            (&snapshot.settings, snapshot.annotations.len())
        );
        for (here, there) in Recording::all(&again).zip(Recording::all(&snapshot)) {
            let range = 0..there.events.len() as u32;
            if there.anchor == Anchor::EndState {
                compare_range(&name, &there, &here, &range);
            }
            assert_eq!((here.device, here.anchor), (there.device, there.anchor), "{name}");
            // A cut states the sums of the blocks that it has.
            let others = |of: &Timeline| {
                of.anomalies
                    .iter()
                    .filter(|(kind, _)| *kind != Anomaly::SegmentSumsDiffer)
                    .collect::<Vec<_>>()
            };
            assert_eq!(others(&here), others(&there), "{name}");
            let blocks = |timeline: &Timeline| {
                let plain =
                    |block: &oomscope_model::Block| (block.addr, block.size, block.requested, block.state);
                timeline.segments.blocks.iter().map(plain).collect::<Vec<_>>()
            };
            assert_eq!(blocks(&here), blocks(&there), "{name}");
        }
    }
    for name in ["frag_oom.pickle", "streams.pickle", "two_devices_oom.pickle", "pinned_host.pickle"] {
        let copy = folder.path().join(name);
        let (path, copy_path) = (sample(name), copy.to_string_lossy().into_owned());
        stdout(["cut", &path.to_string_lossy(), "-o", &copy_path]);
        let figures = |path: &str| {
            let mut figures = json(["stats", path, "--format", "json"]);
            for device in figures.as_array_mut().into_iter().flatten() {
                device["file"] = "".into();
            }
            figures.to_string()
        };
        assert!(figures(&copy_path) == figures(&path.to_string_lossy()), "{name}");
    }
}

#[test]
fn a_cut_of_a_range_has_the_same_memory_at_every_moment() {
    let mut compared = 0;
    for path in recordings() {
        let snapshot = read(&path);
        let name = path.to_string_lossy();
        for recording in Recording::all(&snapshot).filter(is_consistent) {
            let n = recording.events.len() as u32;
            for events in [0..n / 2, n / 3..2 * n / 3, n / 2..n, n.saturating_sub(1)..n] {
                if events.is_empty() {
                    continue;
                }
                let range =
                    DeviceRange { recording: recording.clone(), events: events.clone(), matches: None };
                let (part, lost) = cut_and_read(&snapshot, &[range]);
                if lost != Lost::default() {
                    continue;
                }
                let found = Recording::of_device(&part, recording.device).expect("the device is there");
                assert_eq!(found.anomalies.total(), 0, "{name} {events:?}");
                compare_range(&name, &recording, &found, &events);
                compared += 1;
            }
        }
    }
    assert!(100 < compared, "{compared}");
}

#[test]
fn a_filtered_cut_has_what_matches_and_all_reserved_memory() {
    for name in ["frag_oom.pickle", "streams.pickle", "ring_overflow.pickle", "gpt_oom_expandable.pickle"] {
        let path = sample(name);
        let snapshot = read(&path);
        for recording in Recording::all(&snapshot) {
            let filter = Filter::parse("size>=1MiB").expect("a filter");
            let n = recording.events.len() as u32;
            for events in [0..n, n / 4..3 * n / 4] {
                let prepared = Prepared::new(&filter, &recording, &UserRules::default());
                let matching = prepared.matches(&recording, Moment(events.end));
                let expected = |moment: Moment| {
                    let mut live = live(&recording, moment);
                    live.retain(|_, &mut (size, _)| 1 << 20 <= size);
                    live
                };
                let range = DeviceRange {
                    recording: recording.clone(),
                    events: events.clone(),
                    matches: Some(matching),
                };
                let (part, _) = cut_and_read(&snapshot, &[range]);
                let found = &part.timelines[0];
                assert_eq!(found.anomalies.total(), 0, "{name}");
                let last = Moment(found.events.len() as u32);
                assert_eq!(live(found, Moment(0)), expected(Moment(events.start)), "{name} {events:?}");
                assert_eq!(live(found, last), expected(Moment(events.end)), "{name} {events:?}");
                assert_eq!(found.reserved.at(last), recording.reserved.at(Moment(events.end)), "{name}");
                assert_eq!(
                    found.reserved.at(Moment(0)),
                    recording.reserved.at(Moment(events.start)),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn an_input_is_not_overwritten_and_ranges_of_events_need_a_device() {
    let path = sample("two_devices_oom.pickle");
    let path = path.to_string_lossy();
    let refused = run(["cut", &path, "-o", &path]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is the file that is read"));
    let refused = run(["cut", &path, "--range", "10..20", "-o", "-"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--device"));
    let cut = run(["cut", &path, "--range", "10..20", "--device", "1", "-o", "-"]);
    let part = load_bytes(&cut.stdout).expect("a snapshot");
    assert_eq!(part.timelines.iter().map(|t| (t.device.0, t.events.len())).collect::<Vec<_>>(), [(1, 11)]);
}

#[test]
fn redacted_recordings_have_the_same_categories() {
    let options = CutOptions { redacts: true, ..CutOptions::default() };
    let mut files = recordings();
    files.extend(shared("public").map(|folder| pickles_in(&folder, true)).unwrap_or_default());
    for path in files {
        let snapshot = read(&path);
        let name = path.to_string_lossy();
        let (redacted, _) = cut_with(&snapshot, &whole(&snapshot), options);
        let rules = UserRules::default();
        for (here, there) in Recording::all(&redacted).zip(Recording::all(&snapshot)) {
            let [found, expected] = [&here, &there].map(|recording| Attribution::of(recording, &rules));
            let differing =
                there.ids().find(|&id| found.categories.verdict(id) != expected.categories.verdict(id));
            assert_eq!(differing, None, "{name} {}", there.device);
        }
        let mut files = (0..redacted.frames.len() as u32).map(|id| redacted.frames.get(FrameId(id)).file);
        let is_named = |file: StrId| {
            let file = redacted.strings.whole(file);
            ["/home/", "/Users/", "/workspace/", "/root/"].iter().any(|folder| file.contains(folder))
        };
        assert_eq!(
            files.find(|&file| is_named(file)).map(|file| redacted.strings.whole(file)),
            None,
            "{name}"
        );
    }
}

#[test]
fn compiled_frames_can_be_left_out() {
    let has_native = |snapshot: &Snapshot| {
        let files = (0..snapshot.frames.len() as u32).map(|id| snapshot.frames.get(FrameId(id)).file);
        files.filter(|&file| snapshot.strings.whole(file).contains(".so")).count()
    };
    let options = CutOptions { strips_compiled: true, ..CutOptions::default() };
    for path in recordings() {
        let snapshot = read(&path);
        let (stripped, _) = cut_with(&snapshot, &whole(&snapshot), options);
        assert_eq!(has_native(&stripped), 0, "{}", path.display());
    }
}
