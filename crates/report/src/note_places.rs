//! Places of notes in words, and notes in reports.

use crate::notes::{Found, Place, PlaceMoment, PlaceRange, Resolver, Selected};
use oomscope_analysis::site_label;
use oomscope_model::{DeviceId, Recording, Snapshot};
use oomscope_units as units;
use std::sync::Arc;

/// A place in words: `event 2,528 · 8.00 MiB of train.py:55 attention · filter live`.
pub fn place_words(snapshot: &Arc<Snapshot>, place: &Place) -> String {
    let device = place.device.map(DeviceId);
    let recording = match device {
        Some(device) => Recording::of_device(snapshot, device),
        None => Recording::main(snapshot),
    };
    let mut parts: Vec<String> = device.iter().map(ToString::to_string).collect();
    parts.extend(place.moment.map(moment_words));
    parts.extend(place.selection.map(|selected| selection_words(recording.as_ref(), selected)));
    parts.extend(place.range.map(range_words));
    parts.extend(place.filter.as_ref().map(|filter| format!("filter {}", units::printable(filter))));
    parts.join(" · ")
}

fn moment_words(moment: PlaceMoment) -> String {
    match moment {
        PlaceMoment::Start => "before the first event".to_owned(),
        PlaceMoment::Event(event) => format!("event {}", units::count(event)),
        PlaceMoment::Peak => "the peak".to_owned(),
        PlaceMoment::Oom => "the last OOM".to_owned(),
        PlaceMoment::End => "the end".to_owned(),
    }
}

fn selection_words(recording: Option<&Recording>, selected: Selected) -> String {
    let found = recording.and_then(|of| Some((of, Resolver::new(of).selection(selected)?)));
    let label = |of: &Recording, stack| units::printable(&site_label(of.snapshot(), stack));
    match found {
        Some((of, Found::Allocation(id))) => {
            format!("{} of {}", units::bytes(of.size(id)), label(of, of.stack(id)))
        }
        Some((of, Found::Stack(stack))) => format!("all of {}", label(of, stack)),
        Some((_, Found::Segment(addr))) => format!("segment {}", units::address(addr)),
        None => format!("{selected}, which is not in the recording"),
    }
}

fn range_words(range: PlaceRange) -> String {
    match range {
        PlaceRange::Events([from, to]) => format!("events {} to {}", units::count(from), units::count(to)),
        PlaceRange::TimeUs(ends) => {
            let [from, to] = ends.map(|us| units::duration_us(i64::try_from(us).unwrap_or(i64::MAX)));
            format!("{from} to {to}")
        }
        PlaceRange::AllTime => "all time".to_owned(),
    }
}
