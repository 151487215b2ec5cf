//! A device as it would have gone on: its first events, and others after them.

use super::lifetimes::InitialBlock;
use super::rewind::{EndState, LiveBlock, rewind};
use super::timeline::{block_stacks, find_marks};
use super::{Action, Bytes, Event, EventTable, Lifetimes, Moment, StepCurve, TimeIndex, Timeline};
use foldhash::HashMap;

impl Timeline {
    /// The first `count` events, and others after them.
    ///
    /// Allocations and addresses of the first events keep their ids. What is reserved, and from where, is known up to the first of
    /// the others. Segments are still those at the end of the recording.
    pub fn continued(&self, count: u32, others: &[Event]) -> Self {
        let mut events = self.events.first(count as usize);
        for event in others {
            events.push(event);
        }
        let end = self.state_after(Moment(count), &mut events, others);
        let addresses = events.address_count();
        let rewound = rewind(&events, &end, addresses);
        let (mut lifetimes, fates) = Lifetimes::follow(&events, addresses);
        lifetimes.add_initial(&rewound.initial, fates);
        lifetimes.describe_initial(self.described(&rewound.initial, &events));
        let known = block_stacks(&lifetimes, &events, &self.segments);
        lifetimes.describe_blocks(known);
        let (ooms, dumps) = find_marks(&events);
        Self {
            device: self.device,
            active: rewound.active,
            allocated: rewound.allocated,
            reserved: StepCurve::from_steps(rewound.reserved),
            lifetimes,
            ranges: self.ranges.until(Moment(count)),
            ooms,
            dumps,
            times: TimeIndex::build(&events),
            anchor: self.anchor,
            initial_live_blocks: rewound.initial.len(),
            peak_live_blocks: rewound.peak_live_blocks,
            anomalies: self.anomalies.clone(),
            trust: self.trust,
            events,
            segments: self.segments.clone(),
        }
    }

    /// The blocks that are live after `others`, which follow a moment.
    fn state_after(&self, moment: Moment, events: &mut EventTable, others: &[Event]) -> EndState {
        let block = |id| {
            let allocation = self.allocation(id);
            let awaiting = allocation.is_awaiting_at(moment);
            (allocation.addr, (allocation.size, awaiting))
        };
        let mut live: HashMap<u64, (Bytes, bool)> = self.lifetimes.live_at(moment).map(block).collect();
        for event in others {
            let Some(addr) = event.addr else { continue };
            match event.action {
                Action::Alloc => _ = live.insert(addr, (event.size, false)),
                Action::FreeRequested => {
                    if let Some((_, awaiting)) = live.get_mut(&addr) {
                        *awaiting = true;
                    }
                }
                Action::FreeCompleted => _ = live.remove(&addr),
                _ => {}
            }
        }
        let blocks = live.into_iter();
        let blocks = blocks.map(|(addr, (size, awaiting))| LiveBlock {
            addr: events.intern_address(addr),
            size,
            awaiting,
        });
        EndState { blocks: blocks.collect(), reserved: self.reserved.at(moment) }
    }

    /// What this device knows of blocks from before the trace.
    fn described(&self, initial: &[LiveBlock], events: &EventTable) -> Vec<InitialBlock> {
        let known: HashMap<u64, InitialBlock> =
            self.lifetimes.initial().iter().map(|&block| (block.addr, block)).collect();
        let describe = |block: &LiveBlock| {
            let (addr, size) = (events.address(block.addr), block.size);
            let unknown = InitialBlock { addr, size, stream: None, pool: None, stack: super::StackId::EMPTY };
            InitialBlock { addr, size, ..known.get(&addr).copied().unwrap_or(unknown) }
        };
        initial.iter().map(describe).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Anchor, DeviceId, SegmentTable, TimelineInput};

    const MIB: Bytes = Bytes(1 << 20);

    fn timeline(events: &[Event]) -> Timeline {
        let mut table = EventTable::default();
        for event in events {
            table.push(event);
        }
        let segments = SegmentTable::default();
        Timeline::build(TimelineInput {
            device: DeviceId(0),
            events: table,
            segments,
            anchor: Anchor::TraceOnly,
        })
    }

    fn block(addr: u64, size: Bytes) -> [Event; 3] {
        let event = |action| Event::new(action, addr, size);
        [event(Action::Alloc), event(Action::FreeRequested), event(Action::FreeCompleted)]
    }

    #[test]
    fn what_follows_replaces_what_was_recorded() {
        let [first, asked, done] = block(1 << 20, 3 * MIB);
        let [_, before_asked, before_done] = block(9 << 20, 5 * MIB);
        let [second, ..] = block(1 << 62, 7 * MIB);
        // A block from before the trace is freed last: without that, it stays.
        let recorded = timeline(&[first, asked, done, before_asked, before_done]);
        assert_eq!(recorded.active.peak(), (Moment(1), 8 * MIB));
        let other = recorded.continued(1, &[second, asked, done]);
        let values: Vec<Bytes> = (0..5).map(|moment| other.active.at(Moment(moment))).collect();
        assert_eq!(values, [5, 8, 15, 15, 12].map(|mib| mib * MIB));
        assert_eq!((other.lifetimes.initial_count(), other.lifetimes.len()), (1, 3));
        let ids: Vec<u64> = other.ids().map(|id| other.addr(id)).collect();
        assert_eq!(ids, [9 << 20, 1 << 20, 1 << 62]);
        assert_eq!(other.allocation(other.ids().nth(1).expect("three")).end, Some(Moment(4)));
        assert_eq!(recorded.continued(5, &[]).active.peak(), recorded.active.peak());
        assert_eq!(recorded.continued(0, &[first]).active.at(Moment(1)), 8 * MIB);
    }
}
