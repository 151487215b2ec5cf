//! Packets of a Perfetto trace: tracks, slices, counters, and names that are written once.

use crate::interchange::protobuf::Message;
use foldhash::HashMap;
use oomscope_model::Bytes;
use std::io::{self, Write};

/// Fields of the messages, by the numbers of `perfetto_trace.proto`.
mod field {
    /// Of `Trace`.
    pub(super) const PACKET: u32 = 1;
    /// Of `TracePacket`.
    pub(super) const CLOCK_SNAPSHOT: u32 = 6;
    pub(super) const TIMESTAMP: u32 = 8;
    pub(super) const SEQUENCE_ID: u32 = 10;
    pub(super) const TRACK_EVENT: u32 = 11;
    pub(super) const INTERNED_DATA: u32 = 12;
    pub(super) const SEQUENCE_FLAGS: u32 = 13;
    pub(super) const CLOCK_ID: u32 = 58;
    pub(super) const DEFAULTS: u32 = 59;
    pub(super) const TRACK_DESCRIPTOR: u32 = 60;
    /// Of `TrackEvent`.
    pub(super) const CATEGORY_IIDS: u32 = 3;
    pub(super) const DEBUG_ANNOTATIONS: u32 = 4;
    pub(super) const TYPE: u32 = 9;
    pub(super) const NAME_IID: u32 = 10;
    pub(super) const TRACK_UUID: u32 = 11;
    pub(super) const COUNTER_VALUE: u32 = 30;
}

/// `BUILTIN_CLOCK_REALTIME`: nanoseconds of the wall clock since 1970, as PyTorch records them in microseconds.
const REALTIME: u64 = 1;
/// `BUILTIN_CLOCK_BOOTTIME`, which traces are drawn by.
const BOOTTIME: u64 = 6;
/// `SEQ_INCREMENTAL_STATE_CLEARED`: no names are known yet.
const FIRST: u64 = 1;
/// `SEQ_NEEDS_INCREMENTAL_STATE`: the packet refers to names before it.
const NEEDS_NAMES: u64 = 2;
/// The number of the one sequence of packets.
const SEQUENCE: u64 = 1;

/// A track: a row of slices, a counter, or a group of tracks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Track(u64);

/// The type of an event on a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Begin = 1,
    End = 2,
    Instant = 3,
    Counter = 4,
}

/// A detail of a slice.
#[derive(Debug, Clone, Copy)]
pub(super) enum Detail<'a> {
    Number(i64),
    Address(u64),
    Text(&'a str),
}

/// The lists of names in `InternedData`, by their field numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum NameList {
    Categories = 1,
    Names = 2,
    Details = 3,
}

/// The output.
pub(super) struct Packets<'a> {
    out: &'a mut (dyn Write + Send),
    packet: Message,
    event: Message,
    /// Names that the next packet introduces.
    new_names: Message,
    names: HashMap<(NameList, String), u64>,
    tracks: u64,
}

impl<'a> Packets<'a> {
    pub(super) fn new(out: &'a mut (dyn Write + Send)) -> Self {
        Self {
            out,
            packet: Message::default(),
            event: Message::default(),
            new_names: Message::default(),
            names: HashMap::default(),
            tracks: 0,
        }
    }

    /// Say that all times are those of the wall clock.
    pub(super) fn clock(&mut self) -> io::Result<()> {
        self.packet.nested(field::CLOCK_SNAPSHOT, |snapshot| {
            for clock in [REALTIME, BOOTTIME] {
                // The clock that the trace is drawn by shows the time of the wall clock.
                snapshot.nested(1, |message| _ = message.number(1, clock).number(2, 0));
            }
            snapshot.number(2, REALTIME);
        });
        self.packet.nested(field::DEFAULTS, |defaults| _ = defaults.number(field::CLOCK_ID, REALTIME));
        self.packet.number(field::SEQUENCE_ID, SEQUENCE).number(field::SEQUENCE_FLAGS, FIRST);
        self.packet.write_to(self.out, field::PACKET)
    }

    fn end_packet(&mut self) -> io::Result<()> {
        self.packet.number(field::SEQUENCE_ID, SEQUENCE).number(field::SEQUENCE_FLAGS, NEEDS_NAMES);
        self.packet.write_to(self.out, field::PACKET)
    }

    fn describe(&mut self, fill: impl FnOnce(&mut Message)) -> io::Result<Track> {
        self.tracks += 1;
        let uuid = self.tracks;
        self.packet.nested(field::TRACK_DESCRIPTOR, |track| {
            track.number(1, uuid);
            fill(track);
        });
        self.end_packet()?;
        Ok(Track(uuid))
    }

    /// A process, which is a group of tracks.
    pub(super) fn process(&mut self, pid: i32, name: &str) -> io::Result<Track> {
        self.describe(|track| {
            track.nested(3, |process| _ = process.signed(1, pid.into()).text(6, name));
        })
    }

    /// A track of slices, or a group of tracks.
    pub(super) fn track(&mut self, parent: Track, name: &str) -> io::Result<Track> {
        self.describe(|track| _ = track.number(5, parent.0).text(2, name))
    }

    /// A counter of bytes.
    pub(super) fn byte_counter(&mut self, parent: Track, name: &str) -> io::Result<Track> {
        // `UNIT_SIZE_BYTES`.
        self.describe(|track| {
            track.number(5, parent.0).text(2, name).nested(8, |counter| _ = counter.number(3, 3));
        })
    }

    /// The number of a name; a new one goes into the next packet.
    fn name(&mut self, list: NameList, text: &str) -> u64 {
        // A key of borrowed text would need an allocation for each look-up, or two maps: names are mostly short.
        let key = (list, text.to_owned());
        if let Some(&iid) = self.names.get(&key) {
            return iid;
        }
        let iid = self.names.len() as u64 + 1;
        self.new_names.nested(list as u32, |entry| _ = entry.number(1, iid).text(2, text));
        self.names.insert(key, iid);
        iid
    }

    /// The number of an event's name, for [`Self::begin`].
    pub(super) fn event_name(&mut self, text: &str) -> u64 {
        self.name(NameList::Names, text)
    }

    /// The number of a category, for [`Self::begin`].
    pub(super) fn category(&mut self, text: &str) -> u64 {
        self.name(NameList::Categories, text)
    }

    /// Add a detail to the next event.
    pub(super) fn detail(&mut self, name: &str, detail: Detail<'_>) {
        let iid = self.name(NameList::Details, name);
        self.event.nested(field::DEBUG_ANNOTATIONS, |message| {
            message.number(1, iid);
            match detail {
                Detail::Number(number) => message.signed(4, number),
                // `pointer_value`, which is shown as an address.
                Detail::Address(address) => message.number(7, address),
                Detail::Text(text) => message.text(6, text),
            };
        });
    }

    /// Write the beginning of a slice, or an instant, with a name and maybe a category.
    pub(super) fn named(
        &mut self,
        track: Track,
        mark: Mark,
        time_ns: u64,
        [name, category]: [Option<u64>; 2],
    ) -> io::Result<()> {
        if let Some(name) = name {
            self.event.number(field::NAME_IID, name);
        }
        if let Some(category) = category {
            self.event.number(field::CATEGORY_IIDS, category);
        }
        self.mark(track, mark, time_ns)
    }

    /// Write the end of the latest open slice of a track.
    pub(super) fn end(&mut self, track: Track, time_ns: u64) -> io::Result<()> {
        self.mark(track, Mark::End, time_ns)
    }

    /// Write the value of a counter from a time on.
    pub(super) fn count(&mut self, track: Track, time_ns: u64, value: Bytes) -> io::Result<()> {
        self.event.signed(field::COUNTER_VALUE, value.0);
        self.mark(track, Mark::Counter, time_ns)
    }

    fn mark(&mut self, track: Track, mark: Mark, time_ns: u64) -> io::Result<()> {
        self.event.number(field::TYPE, mark as u64).number(field::TRACK_UUID, track.0);
        self.packet.number(field::TIMESTAMP, time_ns).message(field::TRACK_EVENT, &self.event);
        self.event.clear();
        if !self.new_names.is_empty() {
            self.packet.message(field::INTERNED_DATA, &self.new_names);
            self.new_names.clear();
        }
        self.end_packet()
    }
}
