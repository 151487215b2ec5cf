//! Iterations, phases and the program's own ranges as slices.

use super::packets::{Mark, Packets, Track};
use super::time::nanoseconds;
use crate::interchange::selection::{Portion, Selection};
use oomscope_analysis::{NamedRange, RangeName, annotation_ranges, structure_lanes};
use oomscope_units as units;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

/// Write all ranges of which an exported event is a part.
pub(super) fn spans(
    packets: &mut Packets<'_>,
    selection: &Selection<'_>,
    portion: &Portion,
    process: Track,
) -> io::Result<()> {
    let recording = &portion.recording;
    for lane in structure_lanes(recording, &portion.attribution.phases) {
        write(packets, selection, portion, process, lane)?;
    }
    write(packets, selection, portion, process, annotation_ranges(recording))
}

/// Write ranges of one kind. Those that overlap take tracks of their own.
fn write(
    packets: &mut Packets<'_>,
    selection: &Selection<'_>,
    portion: &Portion,
    process: Track,
    mut ranges: Vec<NamedRange>,
) -> io::Result<()> {
    ranges.retain(|range| {
        range.moments[0].0 <= portion.events.end && portion.events.start < range.moments[1].0
    });
    // Of ranges with the same start, the longest is the outermost and comes first.
    ranges.sort_by_key(|range| {
        let [from, to] = ends_us(portion, range);
        (from, Reverse(to))
    });
    // The tracks with the times at which they are free, the earliest first.
    let mut free: BinaryHeap<Reverse<(i64, Track)>> = BinaryHeap::new();
    for range in ranges {
        let [from, to] = ends_us(portion, &range);
        let track = match free.peek() {
            Some(&Reverse((free_from, track))) if free_from <= from => {
                free.pop();
                track
            }
            _ => packets.track(process, track_name(range.name))?,
        };
        free.push(Reverse((to.max(from), track)));
        let name = packets.event_name(&units::printable(&range.name.text(selection.snapshot)));
        packets.named(track, Mark::Begin, nanoseconds(from), [Some(name), None])?;
        packets.end(track, nanoseconds(to.max(from)))?;
    }
    Ok(())
}

fn track_name(name: RangeName) -> &'static str {
    match name {
        RangeName::Recorded(_) => "ranges",
        RangeName::Iteration { .. } => "iterations",
        RangeName::Phase(_) => "phases",
    }
}

/// The times of a range in microseconds since 1970 or, without times, in events.
fn ends_us(portion: &Portion, range: &NamedRange) -> [i64; 2] {
    match portion.recording.times.first_us() {
        Some(first_us) => range.time_us.map(|us| first_us.saturating_add(us)),
        None => range.moments.map(|moment| i64::from(moment.0) - 1),
    }
}
