//! One device as a process of the trace, event by event.

use super::allocations::Slices;
use super::counters::Counters;
use super::packets::{Detail, Mark, Packets, Track};
use super::spans::spans;
use super::time::EventTimes;
use crate::interchange::progress::Progress;
use crate::interchange::selection::{Portion, Selection};
use oomscope_model::{Action, AllocId, EventIx, Moment};
use std::io;

/// The process number of the first device. Traces of torch.profiler number devices from 0 and have the numbers of real
/// processes, which Linux keeps below 2²².
const FIRST_PID: i32 = 1 << 30;

struct Writer<'a, 'p> {
    packets: &'p mut Packets<'a>,
    portion: &'p Portion,
    counters: Counters<'p>,
    slices: Slices<'p>,
    marks: Track,
}

/// Write a device.
pub(super) fn write<'p>(
    packets: &'p mut Packets<'_>,
    selection: &'p Selection<'p>,
    portion: &'p Portion,
    progress: &mut Progress<'_>,
) -> io::Result<()> {
    let timeline = portion.recording.timeline();
    let has_times = timeline.times.has_times();
    let note = if has_times { "" } else { ", no times recorded: an event is a microsecond" };
    let pid = FIRST_PID.saturating_add(i32::try_from(timeline.device.0).unwrap_or(i32::MAX - FIRST_PID));
    let process = packets.process(pid, &format!("memory of {}{note}", timeline.device))?;
    let counters = Counters::new(packets, portion, process)?;
    spans(packets, selection, portion, process)?;
    let marks = packets.track(process, "failed requests and snapshots")?;
    let slices = Slices::new(selection, portion, process);
    Writer { packets, portion, counters, slices, marks }.events(progress)
}

impl Writer<'_, '_> {
    fn events(&mut self, progress: &mut Progress<'_>) -> io::Result<()> {
        let events = self.portion.events.clone();
        let mut times = EventTimes::new(&self.portion.recording);
        // Just before the first event.
        let start_ns =
            EventTimes::new(&self.portion.recording).of(first_event(self.portion)).saturating_sub(1);
        self.start(Moment(events.start), start_ns)?;
        for ix in events.map(EventIx) {
            let time_ns = times.of(ix);
            self.event(ix, time_ns)?;
            self.counters.totals(self.packets, Moment::after(ix), time_ns)?;
            progress.step();
        }
        Ok(())
    }

    /// Write the state before the first event.
    fn start(&mut self, moment: Moment, time_ns: u64) -> io::Result<()> {
        self.counters.totals(self.packets, moment, time_ns)?;
        let live = self.portion.recording.lifetimes.live_at(moment).filter(|&id| self.portion.keeps(id));
        let live: Vec<AllocId> = live.collect();
        self.counters.start(self.packets, &live, time_ns)?;
        live.into_iter().try_for_each(|id| self.slices.begin(self.packets, id, time_ns))
    }

    fn event(&mut self, ix: EventIx, time_ns: u64) -> io::Result<()> {
        let (timeline, after) = (self.portion.recording.timeline(), Moment::after(ix));
        match timeline.events.action(ix) {
            action @ (Action::Alloc | Action::FreeCompleted) => {
                let addr = timeline.events.addr(ix).unwrap_or_default();
                if let Some(id) = self.slices.ended(addr, after) {
                    self.counters.change(self.packets, id, -1, time_ns)?;
                    self.slices.end(self.packets, addr, time_ns)?;
                }
                let made = if action == Action::Alloc { timeline.lifetimes.of_alloc_event(ix) } else { None };
                if let Some(id) = made.filter(|&id| self.portion.keeps(id)) {
                    self.counters.change(self.packets, id, 1, time_ns)?;
                    self.slices.begin(self.packets, id, time_ns)?;
                }
                Ok(())
            }
            Action::Oom => {
                let event = timeline.events.get(ix);
                self.packets.detail("requested_bytes", Detail::Number(event.size.0));
                if let Some(free) = event.device_free {
                    self.packets.detail("device_free_bytes", Detail::Number(free.0));
                }
                self.mark("oom", time_ns)
            }
            Action::Snapshot => self.mark("snapshot", time_ns),
            _ => Ok(()),
        }
    }

    fn mark(&mut self, name: &str, time_ns: u64) -> io::Result<()> {
        let name = self.packets.event_name(name);
        self.packets.named(self.marks, Mark::Instant, time_ns, [Some(name), None])
    }
}

fn first_event(portion: &Portion) -> EventIx {
    // A recording without events has a state all the same.
    EventIx(portion.events.start.min((portion.recording.events.len() as u32).saturating_sub(1)))
}
