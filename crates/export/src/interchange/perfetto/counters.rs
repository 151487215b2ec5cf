//! The counters of a device.

use super::packets::{Packets, Track};
use crate::interchange::selection::Portion;
use oomscope_analysis::Category;
use oomscope_model::{AllocId, Bytes, Moment};
use std::collections::BTreeMap;
use std::io;

/// The key of a counter of some allocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Category(Category),
    Stream(Option<i64>),
}

/// A counter and its value.
struct Counter {
    track: Track,
    /// 128 bits, as sizes come from the file: a sum that saturated would not come back down.
    value: i128,
}

/// The totals of a device, and those of its exported allocations by category and by stream.
pub(super) struct Counters<'a> {
    portion: &'a Portion,
    process: Track,
    totals: [Track; 3],
    last: Option<[Bytes; 3]>,
    parts: BTreeMap<Key, Counter>,
}

impl<'a> Counters<'a> {
    pub(super) fn new(packets: &mut Packets<'_>, portion: &'a Portion, process: Track) -> io::Result<Self> {
        let totals = [
            packets.byte_counter(process, "allocated")?,
            packets.byte_counter(process, "active")?,
            packets.byte_counter(process, "reserved")?,
        ];
        Ok(Self { portion, process, totals, last: None, parts: BTreeMap::new() })
    }

    /// Write the totals that changed.
    pub(super) fn totals(
        &mut self,
        packets: &mut Packets<'_>,
        moment: Moment,
        time_ns: u64,
    ) -> io::Result<()> {
        let timeline = self.portion.recording.timeline();
        let now = [timeline.allocated.at(moment), timeline.active.at(moment), timeline.reserved.at(moment)];
        for (i, (track, value)) in self.totals.into_iter().zip(now).enumerate() {
            if self.last.is_none_or(|last| last[i] != value) {
                packets.count(track, time_ns, value)?;
            }
        }
        self.last = Some(now);
        Ok(())
    }

    /// Write what an allocation changes when it begins (`sign` 1) or ends (−1).
    pub(super) fn change(
        &mut self,
        packets: &mut Packets<'_>,
        id: AllocId,
        sign: i128,
        time_ns: u64,
    ) -> io::Result<()> {
        for (track, value) in self.add(packets, id, sign)? {
            packets.count(track, time_ns, value)?;
        }
        Ok(())
    }

    /// Change the counters of an allocation. Returns their tracks and values.
    fn add(&mut self, packets: &mut Packets<'_>, id: AllocId, sign: i128) -> io::Result<[(Track, Bytes); 2]> {
        let Portion { recording, attribution, .. } = self.portion;
        let allocation = recording.allocation(id);
        let bytes = sign * i128::from(allocation.size);
        let [category, stream] =
            [Key::Category(attribution.categories.get(id)), Key::Stream(allocation.stream)];
        Ok([self.counter(packets, category, bytes)?, self.counter(packets, stream, bytes)?])
    }

    fn counter(&mut self, packets: &mut Packets<'_>, key: Key, bytes: i128) -> io::Result<(Track, Bytes)> {
        if !self.parts.contains_key(&key) {
            let name = match key {
                Key::Category(category) => format!("active: {}", category.key()),
                Key::Stream(Some(stream)) => format!("active: stream {stream}"),
                Key::Stream(None) => "active: unknown stream".to_owned(),
            };
            let track = packets.byte_counter(self.process, &name)?;
            self.parts.insert(key, Counter { track, value: 0 });
        }
        let Some(counter) = self.parts.get_mut(&key) else { return Ok((self.process, Bytes::ZERO)) };
        counter.value += bytes;
        Ok((counter.track, Bytes::clamped(counter.value)))
    }

    /// Count what is live before the first event, and write all counters.
    pub(super) fn start(
        &mut self,
        packets: &mut Packets<'_>,
        live: &[AllocId],
        time_ns: u64,
    ) -> io::Result<()> {
        for &id in live {
            self.add(packets, id, 1)?;
        }
        for counter in self.parts.values() {
            let value = Bytes::clamped(counter.value);
            packets.count(counter.track, time_ns, value)?;
        }
        Ok(())
    }
}
