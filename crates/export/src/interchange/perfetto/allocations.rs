//! Allocations as slices. Slices of a track must not overlap, so an allocation takes the first track that is free.

use super::packets::{Detail, Mark, Packets, Track};
use crate::interchange::selection::{Portion, Selection};
use foldhash::HashMap;
use oomscope_model::{AllocId, Moment};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

/// The name of all tracks of allocations, by which Perfetto shows them as one.
const NAME: &str = "allocations";

/// The slices that are open, and the tracks that are free.
pub(super) struct Slices<'a> {
    selection: &'a Selection<'a>,
    portion: &'a Portion,
    process: Track,
    tracks: Vec<Track>,
    free: BinaryHeap<Reverse<usize>>,
    /// The allocation at an address, and its track.
    open: HashMap<u64, (AllocId, usize)>,
}

impl<'a> Slices<'a> {
    pub(super) fn new(selection: &'a Selection<'a>, portion: &'a Portion, process: Track) -> Self {
        let open = HashMap::default();
        Self { selection, portion, process, tracks: Vec::new(), free: BinaryHeap::new(), open }
    }

    /// The allocation at an address that ended with the event before a moment.
    pub(super) fn ended(&self, addr: u64, moment: Moment) -> Option<AllocId> {
        let &(id, _) = self.open.get(&addr)?;
        (self.portion.recording.lifetimes.end(id) == Some(moment)).then_some(id)
    }

    /// Write the end of the allocation at an address.
    pub(super) fn end(&mut self, packets: &mut Packets<'_>, addr: u64, time_ns: u64) -> io::Result<()> {
        let Some((_, at)) = self.open.remove(&addr) else { return Ok(()) };
        self.free.push(Reverse(at));
        packets.end(self.tracks[at], time_ns)
    }

    /// Write the beginning of an allocation.
    pub(super) fn begin(&mut self, packets: &mut Packets<'_>, id: AllocId, time_ns: u64) -> io::Result<()> {
        let at = self.free.pop().map_or(self.tracks.len(), |Reverse(at)| at);
        if at == self.tracks.len() {
            self.tracks.push(packets.track(self.process, NAME)?);
        }
        let Portion { recording, attribution, .. } = self.portion;
        let allocation = recording.allocation(id);
        self.open.insert(allocation.addr, (id, at));
        let verdict = attribution.categories.verdict(id);
        let name = packets.event_name(self.selection.site(allocation.stack).unwrap_or("no stack recorded"));
        let category = packets.category(verdict.category.key());
        packets.detail("size_bytes", Detail::Number(allocation.size.0));
        packets.detail("addr", Detail::Address(allocation.addr));
        packets.detail("allocation", Detail::Number(id.0.into()));
        if let Some(stream) = allocation.stream {
            packets.detail("stream", Detail::Number(stream));
        }
        packets.detail("basis", Detail::Text(verdict.basis().key()));
        packets.named(self.tracks[at], Mark::Begin, time_ns, [Some(name), Some(category)])
    }
}
