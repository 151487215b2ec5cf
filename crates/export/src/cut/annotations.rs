//! The annotations in the course of a cut.

use super::range::DeviceRange;
use foldhash::HashMap;
use oomscope_model::{Annotation, EventIx, Snapshot, StrId};

/// The annotations of ranges of time that overlap the kept events, with both marks where both were recorded. All of them if all
/// events are kept.
pub(super) fn annotations_within(snapshot: &Snapshot, ranges: &[DeviceRange]) -> Vec<Annotation> {
    if ranges.iter().all(DeviceRange::is_whole) {
        return snapshot.annotations.clone();
    }
    let Some([first_us, last_us]) = time_range_us(ranges) else { return Vec::new() };
    let mut is_kept = vec![false; snapshot.annotations.len()];
    let mut open: HashMap<StrId, Vec<usize>> = HashMap::default();
    for (at, annotation) in snapshot.annotations.iter().enumerate() {
        let Some(time_us) = annotation.time_us else { continue };
        if annotation.is_start {
            open.entry(annotation.name).or_default().push(at);
            // Unless an end follows, it lasts at least until the recording ends.
            is_kept[at] = time_us <= last_us;
            continue;
        }
        // An end belongs to the latest open start of its name.
        let start = open.get_mut(&annotation.name).and_then(Vec::pop);
        let start_us = start.and_then(|start| snapshot.annotations[start].time_us);
        let overlaps = first_us <= time_us && start_us.is_none_or(|start| start <= last_us);
        is_kept[at] = overlaps;
        if let Some(start) = start {
            is_kept[start] = overlaps;
        }
    }
    let kept = snapshot.annotations.iter().zip(is_kept).filter(|&(_, is_kept)| is_kept);
    kept.map(|(annotation, _)| annotation.clone()).collect()
}

/// The first and the last time among the kept events.
fn time_range_us(ranges: &[DeviceRange]) -> Option<[i64; 2]> {
    let times = ranges.iter().flat_map(|range| {
        let events = &range.recording.events;
        let mut rows = range.events.clone().map(EventIx);
        let first = rows.find_map(|event| events.time_us(event));
        let last = rows.rev().find_map(|event| events.time_us(event));
        first.into_iter().chain(last)
    });
    times.fold(None, |known: Option<[i64; 2]>, time| {
        let [first, last] = known.unwrap_or([time; 2]);
        Some([first.min(time), last.max(time)])
    })
}
