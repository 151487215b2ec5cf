//! The states of all lists and dicts, by the handles that the decoder has for them.

use super::keys::RecordKind;
use crate::model::{FrameId, StackId};
use crate::pickle::Handle;
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

/// States by dict handle.
#[derive(Debug, Default, Clone)]
pub(super) struct Dicts(Vec<u32>);

impl Dicts {
    /// The kinds of records, by their tags from 2 on. Frames are not among them: tag 1 is theirs.
    const RECORDS: [RecordKind; 5] = [
        RecordKind::Event,
        RecordKind::Block,
        RecordKind::Segment,
        RecordKind::History,
        RecordKind::Annotation,
    ];

    pub(super) fn held_bytes(&self) -> usize {
        size_of_val(&*self.0)
    }

    pub(super) fn reserve(&mut self, n: usize) {
        self.0.reserve(n);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// The states in a range, on their own.
    pub(super) fn part(&self, range: Range<usize>) -> Self {
        Self(self.0.get(range).unwrap_or_default().to_vec())
    }

    /// All states.
    pub(super) fn states(&self) -> impl Iterator<Item = DictState> + '_ {
        (0..self.0.len() as u32).map(|dict| self.get(Handle(dict)))
    }

    /// Append the states of a part that has only frames, renamed, and rows of events, which now start at `first`. `None` if a
    /// frame has no name; then some of them are missing.
    pub(super) fn append(
        &mut self,
        part: &Self,
        first: u32,
        frame: impl Fn(FrameId) -> Option<FrameId>,
    ) -> Option<()> {
        self.0.reserve(part.0.len());
        for &packed in &part.0 {
            self.0.push(match unpack(packed) {
                (1, id) => pack(1, frame(FrameId(id))?.0),
                (2, row) => pack(2, first + row),
                _ => packed,
            });
        }
        Some(())
    }

    #[inline]
    pub(super) fn add(&mut self) -> u32 {
        self.0.push(0);
        self.0.len() as u32 - 1
    }

    #[inline]
    pub(super) fn get(&self, dict: Handle) -> DictState {
        let packed = self.0[dict.0 as usize];
        if packed == 0 {
            return DictState::Fresh;
        }
        match unpack(packed) {
            (0, i) => DictState::Loose(i - 1),
            (1, i) => DictState::Frame(FrameId(i)),
            (tag, i) => DictState::Record(Self::RECORDS[(tag - 2) as usize % Self::RECORDS.len()], i),
        }
    }

    #[inline]
    pub(super) fn set(&mut self, dict: Handle, state: DictState) {
        self.0[dict.0 as usize] = match state {
            DictState::Fresh => 0,
            DictState::Loose(i) => pack(0, i + 1),
            DictState::Frame(id) => pack(1, id.0),
            DictState::Record(kind, row) => {
                let tag = Self::RECORDS.iter().position(|&k| k == kind).unwrap_or(0);
                pack(2 + tag as u32, row)
            }
        };
    }
}

/// States by list handle.
#[derive(Debug, Default, Clone)]
pub(super) struct Lists(Vec<u32>);

impl Lists {
    pub(super) fn held_bytes(&self) -> usize {
        size_of_val(&*self.0)
    }

    pub(super) fn reserve(&mut self, n: usize) {
        self.0.reserve(n);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// The states in a range, on their own.
    pub(super) fn part(&self, range: Range<usize>) -> Self {
        Self(self.0.get(range).unwrap_or_default().to_vec())
    }

    /// All states.
    pub(super) fn states(&self) -> impl Iterator<Item = ListState> + '_ {
        (0..self.0.len() as u32).map(|list| self.get(Handle(list)))
    }

    /// Append the states of a part, from its list `from` on, which has only stacks, renamed. `None` if a stack has no name;
    /// then some of them are missing.
    pub(super) fn append(
        &mut self,
        part: &Self,
        from: usize,
        stack: impl Fn(StackId) -> Option<StackId>,
    ) -> Option<()> {
        self.0.reserve(part.0.len());
        for &packed in part.0.get(from..).unwrap_or_default() {
            self.0.push(match unpack(packed) {
                (1, id) => pack(1, stack(StackId(id))?.0),
                _ => packed,
            });
        }
        Some(())
    }

    #[inline]
    pub(super) fn add(&mut self) -> u32 {
        self.0.push(0);
        self.0.len() as u32 - 1
    }

    #[inline]
    pub(super) fn get(&self, list: Handle) -> ListState {
        let packed = self.0[list.0 as usize];
        if packed == 0 {
            return ListState::Fresh;
        }
        match unpack(packed) {
            (0, i) => ListState::Loose(i - 1),
            (1, i) => ListState::Stack(StackId(i)),
            (_, i) => ListState::Records(i),
        }
    }

    #[inline]
    pub(super) fn set(&mut self, list: Handle, state: ListState) {
        self.0[list.0 as usize] = match state {
            ListState::Fresh => 0,
            ListState::Loose(i) => pack(0, i + 1),
            ListState::Stack(id) => pack(1, id.0),
            ListState::Records(i) => pack(2, i),
        };
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
