//! The states of all lists and dicts, by the handles that the decoder has for them.

use super::keys::RecordKind;
use oomscope_model::{FrameId, StackId};
use oomscope_pickle::Handle;
use std::marker::PhantomData;
use std::ops::Range;

/// The state of a dict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DictState {
    /// Nothing was put into it yet.
    Fresh,
    /// Pairs are kept as they are: index of a loose container.
    Loose(u32),
    /// A frame.
    Frame(FrameId),
    /// A row of its kind's table.
    Record(RecordKind, u32),
}

/// The state of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListState {
    /// Nothing was put into it yet.
    Fresh,
    /// Values are kept as they are: index of a loose container.
    Loose(u32),
    /// A stack.
    Stack(StackId),
    /// Records: index of a [`RecordList`].
    Records(u32),
}

/// A stack that may get more frames.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenStack {
    /// The list that it comes from.
    pub(super) list: Handle,
    /// Whether no other list has the same frames, so that nobody misses it.
    pub(super) is_own: bool,
}

impl OpenStack {
    /// Whether it comes from this list.
    pub(super) fn is_of(self, list: Handle) -> bool {
        self.list == list
    }
}

/// Bits of the payload of a packed state: rows, ids and indexes stay below [`Handle::LIMIT`].
const PAYLOAD_BITS: u32 = 29;

/// A state in 32 bits. A large file has tens of millions of containers, so every byte of a state counts.
///
/// 0 is the state of a new container: tag 0 counts its payload from 1.
fn pack(tag: u32, payload: u32) -> u32 {
    debug_assert!(payload < Handle::LIMIT, "the payload would run into the tag");
    debug_assert!(tag < 1 << (u32::BITS - PAYLOAD_BITS), "the tag has no room");
    tag << PAYLOAD_BITS | payload
}

fn unpack(packed: u32) -> (u32, u32) {
    (packed >> PAYLOAD_BITS, packed & (Handle::LIMIT - 1))
}

/// A state that fits 32 bits.
pub(super) trait PackedState: Copy {
    /// The bits. Those of a fresh container are 0.
    fn packed(self) -> u32;

    /// The state that has these bits.
    fn unpacked(bits: u32) -> Self;
}

impl DictState {
    /// The kinds of records, by their tags from 2 on. Frames are not among them: tag 1 is theirs.
    const RECORDS: [RecordKind; 5] = [
        RecordKind::Event,
        RecordKind::Block,
        RecordKind::Segment,
        RecordKind::History,
        RecordKind::Annotation,
    ];
}

impl PackedState for DictState {
    #[inline]
    fn packed(self) -> u32 {
        match self {
            Self::Fresh => 0,
            Self::Loose(i) => pack(0, i + 1),
            Self::Frame(id) => pack(1, id.0),
            Self::Record(kind, row) => {
                let tag = Self::RECORDS.iter().position(|&k| k == kind).unwrap_or(0);
                pack(2 + tag as u32, row)
            }
        }
    }

    #[inline]
    fn unpacked(bits: u32) -> Self {
        if bits == 0 {
            return Self::Fresh;
        }
        match unpack(bits) {
            (0, i) => Self::Loose(i - 1),
            (1, i) => Self::Frame(FrameId(i)),
            (tag, i) => Self::Record(Self::RECORDS[(tag - 2) as usize % Self::RECORDS.len()], i),
        }
    }
}

impl PackedState for ListState {
    #[inline]
    fn packed(self) -> u32 {
        match self {
            Self::Fresh => 0,
            Self::Loose(i) => pack(0, i + 1),
            Self::Stack(id) => pack(1, id.0),
            Self::Records(i) => pack(2, i),
        }
    }

    #[inline]
    fn unpacked(bits: u32) -> Self {
        if bits == 0 {
            return Self::Fresh;
        }
        match unpack(bits) {
            (0, i) => Self::Loose(i - 1),
            (1, i) => Self::Stack(StackId(i)),
            (_, i) => Self::Records(i),
        }
    }
}

/// The states of containers of one kind, by handle.
#[derive(Debug, Clone)]
pub(super) struct States<S> {
    packed: Vec<u32>,
    kind: PhantomData<S>,
}

/// States by dict handle.
pub(super) type Dicts = States<DictState>;

/// States by list handle.
pub(super) type Lists = States<ListState>;

impl<S> Default for States<S> {
    fn default() -> Self {
        Self { packed: Vec::new(), kind: PhantomData }
    }
}

impl<S: PackedState> States<S> {
    pub(super) fn held_bytes(&self) -> usize {
        size_of_val(&*self.packed)
    }

    pub(super) fn reserve(&mut self, n: usize) {
        self.packed.reserve(n);
    }

    pub(super) fn len(&self) -> usize {
        self.packed.len()
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.packed.truncate(len);
    }

    /// The states in a range, on their own, where others were.
    pub(super) fn part(&self, range: Range<usize>, mut others: Self) -> Self {
        others.packed.clear();
        others.packed.extend_from_slice(self.packed.get(range).unwrap_or_default());
        others
    }

    /// All states.
    pub(super) fn iter(&self) -> impl Iterator<Item = S> + '_ {
        self.packed.iter().map(|&bits| S::unpacked(bits))
    }

    /// Append the states of a part, from its container `from` on, under the names that they have here. `None` if one has
    /// none; then some of them are missing.
    pub(super) fn append(&mut self, part: &Self, from: usize, rename: impl Fn(S) -> Option<S>) -> Option<()> {
        let part = part.packed.get(from..).unwrap_or_default();
        self.packed.reserve(part.len());
        for &bits in part {
            self.packed.push(rename(S::unpacked(bits))?.packed());
        }
        Some(())
    }

    #[inline]
    pub(super) fn add(&mut self) -> u32 {
        self.packed.push(0);
        self.packed.len() as u32 - 1
    }

    #[inline]
    pub(super) fn get(&self, container: Handle) -> S {
        S::unpacked(self.packed[container.0 as usize])
    }

    #[inline]
    pub(super) fn set(&mut self, container: Handle, state: S) {
        self.packed[container.0 as usize] = state.packed();
    }
}

/// A list of records of one kind: rows of that kind's table.
#[derive(Debug, Clone)]
pub(super) struct RecordList {
    pub(super) kind: RecordKind,
    /// Rows, in list order. Picklers write lists in one go, so this is one range.
    pub(super) rows: Vec<Range<u32>>,
    /// Whether the file ended inside the list.
    pub(super) is_interrupted: bool,
}

impl RecordList {
    pub(super) fn new(kind: RecordKind) -> Self {
        Self { kind, rows: Vec::new(), is_interrupted: false }
    }

    #[inline]
    pub(super) fn push(&mut self, row: u32) {
        match self.rows.last_mut() {
            Some(range) if range.end == row => range.end += 1,
            _ => self.rows.push(row..row + 1),
        }
    }

    /// Append rows that follow one another.
    pub(super) fn extend(&mut self, rows: Range<u32>) {
        match self.rows.last_mut() {
            _ if rows.is_empty() => {}
            Some(range) if range.end == rows.start => range.end = rows.end,
            _ => self.rows.push(rows),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.iter().map(ExactSizeIterator::len).sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.rows.iter().cloned().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_survive_packing() {
        let mut dicts = Dicts::default();
        let mut lists = Lists::default();
        let handle = Handle(dicts.add());
        assert_eq!(lists.add(), 0);
        for state in [
            DictState::Fresh,
            DictState::Loose(0),
            DictState::Frame(FrameId(7)),
            DictState::Record(RecordKind::Event, 0),
            DictState::Record(RecordKind::Annotation, 9),
        ] {
            dicts.set(handle, state);
            assert_eq!(dicts.get(handle), state);
        }
        for state in
            [ListState::Fresh, ListState::Loose(0), ListState::Stack(StackId(3)), ListState::Records(0)]
        {
            lists.set(handle, state);
            assert_eq!(lists.get(handle), state);
        }
    }
}
