//! What the builder remembers of each list and dict that the decoder names.

use super::keys::RecordKind;
use crate::model::{FrameId, StackId};
use crate::pickle::{Handle, Value};
use std::ops::Range;

/// How many values of containers that mean nothing to us are kept, over all of them.
const MAX_LOOSE_VALUES: usize = 4_000_000;

/// What a dict has become.
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

/// What a list has become.
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

const PAYLOAD_BITS: u32 = 29;

/// A state in 32 bits: there are as many as the file has containers.
fn pack(tag: u32, payload: u32) -> u32 {
    debug_assert!(payload < Handle::LIMIT);
    tag << PAYLOAD_BITS | payload
}

fn unpack(packed: u32) -> (u32, u32) {
    (packed >> PAYLOAD_BITS, packed & (Handle::LIMIT - 1))
}

/// States by dict handle.
#[derive(Debug, Default)]
pub(super) struct Dicts(Vec<u32>);

impl Dicts {
    /// Records of one kind are rows of one table; events come first because they are many.
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
#[derive(Debug, Default)]
pub(super) struct Lists(Vec<u32>);

impl Lists {
    pub(super) fn held_bytes(&self) -> usize {
        size_of_val(&*self.0)
    }

    pub(super) fn reserve(&mut self, n: usize) {
        self.0.reserve(n);
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
    /// Whether the file broke off inside the list.
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

    pub(super) fn len(&self) -> usize {
        self.rows.iter().map(ExactSizeIterator::len).sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.rows.iter().cloned().flatten()
    }
}

/// Containers whose values are kept as they are, up to a limit over all of them.
#[derive(Debug, Default)]
pub(super) struct LooseValues {
    containers: Vec<Vec<Value>>,
    /// Containers that can be used again.
    free: Vec<u32>,
    total: usize,
    /// Values beyond the limit.
    pub(super) dropped: u64,
}

impl LooseValues {
    /// Stands for every container beyond the limit: it keeps nothing.
    const FULL: u32 = Handle::LIMIT - 2;

    /// A new container. What is needed gets one beyond the limit, too.
    pub(super) fn add(&mut self, is_needed: bool) -> u32 {
        if let Some(container) = self.free.pop() {
            return container;
        }
        if MAX_LOOSE_VALUES <= self.containers.len() && !is_needed {
            return Self::FULL;
        }
        self.containers.push(Vec::new());
        self.containers.len() as u32 - 1
    }

    /// Keep more values. What is needed is kept beyond the limit, too.
    pub(super) fn extend(&mut self, container: u32, values: &[Value], is_needed: bool) {
        let is_full = MAX_LOOSE_VALUES < self.total + values.len() && !is_needed;
        match self.containers.get_mut(container as usize) {
            Some(kept) if !is_full => {
                self.total += values.len();
                kept.extend_from_slice(values);
            }
            _ => self.dropped += values.len() as u64,
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        size_of_val(&*self.containers) + self.total * size_of::<Value>()
    }

    pub(super) fn get(&self, container: u32) -> &[Value] {
        self.containers.get(container as usize).map_or(&[], Vec::as_slice)
    }

    /// The values of a container, which is then either freed or given them back.
    pub(super) fn take(&mut self, container: u32) -> Vec<Value> {
        let values = self.containers.get_mut(container as usize).map(std::mem::take).unwrap_or_default();
        self.total -= values.len();
        values
    }

    /// Undo [`Self::take`].
    pub(super) fn put_back(&mut self, container: u32, values: Vec<Value>) {
        if let Some(kept) = self.containers.get_mut(container as usize) {
            self.total += values.len();
            *kept = values;
        }
    }

    /// Nobody refers to the container any more.
    pub(super) fn free(&mut self, container: u32) {
        if container != Self::FULL {
            self.free.push(container);
        }
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
