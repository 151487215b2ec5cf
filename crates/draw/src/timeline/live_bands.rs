//! The bands that are there at a moment, carried along from column to column.
//!
//! Bands lie in chunks with sums by share, so that a column looks at single bands only where one of them is at
//! least a row high. A band that comes or goes changes the sums of its chunk.

use super::bands::{NONE, Share};
use oomscope_model::Bytes;

/// Number of bands in a chunk: few enough that a chunk with a large band is looked through at once, and enough
/// that sums are less work than bands.
const CHUNK: usize = 64;

/// The place of a band: its group, and its number in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct BandPlace {
    group: u32,
    slot: u32,
}

/// A band that is or was there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    /// Its id; [`NONE`] once it is gone.
    pub(super) id: u32,
    /// [`Share::index`] of its share.
    pub(super) share: u8,
    /// True if it is at least a row high.
    pub(super) is_tall: bool,
    /// True if it is over within less than a column.
    pub(super) is_brief: bool,
    pub(super) bytes: Bytes,
}

#[derive(Debug, Clone, Copy, Default)]
struct Chunk {
    /// Number of bands that are at least a row high.
    tall: u16,
    /// Bytes of all.
    bytes: Bytes,
}

/// The bands of a group.
#[derive(Debug, Default)]
pub(super) struct Group {
    slots: Vec<Slot>,
    chunks: Vec<Chunk>,
    /// Bytes of each chunk by share.
    sums: Vec<Bytes>,
    shares: usize,
    /// Bytes of all.
    pub(super) bytes: Bytes,
    /// True if a size was negative, as a damaged file may have it. Then later bands may lie lower.
    has_negative: bool,
}

/// The bands of all groups.
#[derive(Debug)]
pub(super) struct LiveBands {
    pub(super) groups: Vec<Group>,
}

/// A step upwards through a group.
pub(super) enum Stride<'a> {
    /// Bands that are below the view, with those that share a run with visible ones left out.
    Below(Bytes),
    /// Bands that are each less than a row high, as their bytes by share.
    Sums(&'a [Bytes]),
    /// One band.
    Band(Slot),
}

impl LiveBands {
    /// Room for groups whose bands have `shares` shares.
    pub(super) fn new(groups: usize, shares: usize) -> Self {
        Self { groups: (0..groups).map(|_| Group { shares, ..Group::default() }).collect() }
    }

    /// Put a band on top of its group; `None` if there is no such group.
    pub(super) fn add(&mut self, group: usize, slot: Slot) -> Option<BandPlace> {
        let bands = self.groups.get_mut(group)?;
        let place = BandPlace { group: group as u32, slot: bands.slots.len() as u32 };
        bands.add(slot);
        Some(place)
    }

    /// Take a band away.
    pub(super) fn remove(&mut self, place: BandPlace) {
        if let Some(group) = self.groups.get_mut(place.group as usize) {
            group.remove(place.slot as usize);
        }
    }
}

impl Group {
    fn add(&mut self, slot: Slot) {
        if self.slots.len().is_multiple_of(CHUNK) {
            self.chunks.push(Chunk::default());
            self.sums.resize(self.sums.len() + self.shares, Bytes::ZERO);
        }
        self.slots.push(slot);
        self.has_negative |= slot.bytes < 0;
        self.count(self.slots.len() - 1, slot, true);
    }

    fn remove(&mut self, at: usize) {
        let slot = self.slots[at];
        if slot.id != NONE {
            self.slots[at].id = NONE;
            self.count(at, slot, false);
        }
    }

    /// Add a band to the sums, or take it from them. Sums wrap, since sizes of a damaged file may be of any
    /// size: what is added and taken away again leaves nothing behind.
    fn count(&mut self, at: usize, slot: Slot, is_added: bool) {
        let add = |Bytes(sum): Bytes| {
            let Bytes(bytes) = slot.bytes;
            Bytes(if is_added { sum.wrapping_add(bytes) } else { sum.wrapping_sub(bytes) })
        };
        let step = |count: u16| if is_added { count + 1 } else { count - 1 };
        let chunk = &mut self.chunks[at / CHUNK];
        chunk.bytes = add(chunk.bytes);
        if slot.is_tall {
            chunk.tall = step(chunk.tall);
        }
        let sum = &mut self.sums[at / CHUNK * self.shares + usize::from(slot.share)];
        *sum = add(*sum);
        self.bytes = add(self.bytes);
    }

    /// Go upwards through the bands until `visit` returns false. Nothing of the lowest `hidden_bytes` is
    /// visible.
    pub(super) fn walk(&self, hidden_bytes: Bytes, mut visit: impl FnMut(Stride<'_>) -> bool) {
        let (first, below) = self.first_chunk(hidden_bytes);
        if below != 0 && !visit(Stride::Below(below)) {
            return;
        }
        for (at, chunk) in self.chunks.iter().enumerate().skip(first) {
            let goes_on = if chunk.tall == 0 {
                chunk.bytes == 0 || visit(Stride::Sums(&self.sums[at * self.shares..(at + 1) * self.shares]))
            } else {
                let slots = &self.slots[at * CHUNK..((at + 1) * CHUNK).min(self.slots.len())];
                slots.iter().filter(|slot| slot.id != NONE).all(|&slot| visit(Stride::Band(slot)))
            };
            if !goes_on {
                return;
            }
        }
    }

    /// The chunk from which on runs of shares that are visible are complete, and the bytes below it. That is
    /// the last one below the view in which a band that is at least a row high ends a run.
    fn first_chunk(&self, hidden_bytes: Bytes) -> (usize, Bytes) {
        let (mut first, mut below, mut sum) = (0, Bytes::ZERO, Bytes::ZERO);
        for (at, chunk) in self.chunks.iter().enumerate() {
            let end = sum + chunk.bytes;
            if self.has_negative || hidden_bytes < end {
                break;
            }
            if chunk.tall != 0 {
                (first, below) = (at, sum);
            }
            sum = end;
        }
        (first, below)
    }
}

/// The thin bands between two that are at least a row high: bytes by share.
#[derive(Debug)]
pub(super) struct Run {
    sums: Vec<Bytes>,
    is_empty: bool,
}

impl Run {
    /// A run without bands.
    pub(super) fn new(shares: usize) -> Self {
        Self { sums: vec![Bytes::ZERO; shares], is_empty: true }
    }

    /// Add a band.
    pub(super) fn add(&mut self, slot: Slot) {
        self.sums[usize::from(slot.share)] += slot.bytes;
        self.is_empty = false;
    }

    /// Add bands by their sums.
    pub(super) fn add_sums(&mut self, sums: &[Bytes]) {
        self.sums.iter_mut().zip(sums).for_each(|(sum, &more)| *sum += more);
        self.is_empty = false;
    }

    /// Take all shares out, in their order.
    pub(super) fn drain(&mut self, mut visit: impl FnMut(Share, Bytes)) {
        if std::mem::replace(&mut self.is_empty, true) {
            return;
        }
        for (at, sum) in self.sums.iter_mut().enumerate().filter(|(_, sum)| **sum != 0) {
            visit(Share::at(at), std::mem::take(sum));
        }
    }
}
