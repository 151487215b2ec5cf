//! The events of a trace of torch.profiler as tracks.

use super::packets::{Mark, Packets, Track};
use crate::interchange::profile::{Profile, ProfileEvent};
use foldhash::HashMap;
use std::io;

/// The number of the first process whose id is a text.
const FIRST_TEXT_PID: i32 = (1 << 30) + (1 << 20);

/// The most rows that spans of one thread take. Those of a thread are mostly within each other and take one; each event looks at
/// all rows.
const MAX_LANES: usize = 64;

/// Write all spans and instants. Rows are those of the profile; spans that overlap without one being in the other take a row of
/// their own.
pub(super) fn write(packets: &mut Packets<'_>, profile: &Profile) -> io::Result<()> {
    let mut processes: HashMap<&str, Track> = HashMap::default();
    let mut rest = &profile.events[..];
    while let Some(first) = rest.first() {
        let count = rest.partition_point(|event| event.row <= first.row);
        let (of_row, others) = rest.split_at(count);
        rest = others;
        let [pid, _] = &profile.rows[first.row as usize];
        let process = processes
            .get(pid.as_str())
            .copied()
            .map_or_else(|| new_process(packets, profile, pid, processes.len()), Ok)?;
        processes.insert(pid, process);
        row(packets, profile, process, of_row)?;
    }
    Ok(())
}

fn new_process(packets: &mut Packets<'_>, profile: &Profile, pid: &str, at: usize) -> io::Result<Track> {
    let name = profile.process_names.get(pid).map_or("process", String::as_str);
    let number = pid.parse().unwrap_or(FIRST_TEXT_PID.saturating_add(at as i32));
    packets.process(number, &format!("{name} {pid}"))
}

/// A track of a row, and the ends of its open spans.
struct Lane {
    track: Track,
    open: Vec<i64>,
}

impl Lane {
    /// End the spans that are over at a time.
    fn end_until(&mut self, packets: &mut Packets<'_>, profile: &Profile, now: i64) -> io::Result<()> {
        while let Some(&end) = self.open.last().filter(|end| **end <= now) {
            self.open.pop();
            packets.end(self.track, time_ns(profile, end))?;
        }
        Ok(())
    }
}

fn row(
    packets: &mut Packets<'_>,
    profile: &Profile,
    process: Track,
    events: &[ProfileEvent],
) -> io::Result<()> {
    let Some(first) = events.first() else { return Ok(()) };
    let id = &profile.rows[first.row as usize];
    let name = profile.thread_names.get(id).cloned().unwrap_or_else(|| format!("thread {}", id[1]));
    let mut lanes: Vec<Lane> = Vec::new();
    let mut left_out = 0u64;
    for event in events {
        let end = event.start_ns.saturating_add(event.duration_ns.unwrap_or_default());
        for lane in &mut lanes {
            lane.end_until(packets, profile, event.start_ns)?;
        }
        let fits = |lane: &Lane| lane.open.last().is_none_or(|outer| end <= *outer);
        let at = lanes.iter().position(fits).unwrap_or(lanes.len());
        if at == MAX_LANES {
            left_out += 1;
            continue;
        }
        if at == lanes.len() {
            lanes.push(Lane { track: packets.track(process, &name)?, open: Vec::new() });
        }
        let names = [event.name, event.category].map(|at| profile.names[at as usize].as_str());
        let [name, category] = [packets.event_name(names[0]), packets.category(names[1])];
        let mark = if event.duration_ns.is_some() { Mark::Begin } else { Mark::Instant };
        let start_ns = time_ns(profile, event.start_ns);
        packets.named(lanes[at].track, mark, start_ns, [Some(name), Some(category)])?;
        if event.duration_ns.is_some() {
            lanes[at].open.push(end);
        }
    }
    if left_out != 0 {
        packets.track(process, &format!("{name}: {left_out} spans left out, too many overlap"))?;
    }
    lanes.iter_mut().try_for_each(|lane| lane.end_until(packets, profile, i64::MAX))
}

/// A time of the profile in nanoseconds since 1970.
fn time_ns(profile: &Profile, ns: i64) -> u64 {
    profile.base_ns.saturating_add(ns).max(0).unsigned_abs()
}
