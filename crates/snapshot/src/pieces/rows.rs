//! The content of a piece.

use crate::builder::Builder;
use crate::containers::{DictState, Dicts, ListState, Lists};
use crate::extent::Extent;
use crate::keys::RecordKind;
use crate::later::LaterActions;
use crate::notes::Notes;
use oomscope_model::{EventTable, Frame, FrameId, FxInfo, PoolKey, StrId};
use oomscope_pickle::{Handle, Kind, SinkMark, Value};

/// The content of a piece: events, and what they brought along that its decoder's earlier pieces do not have.
#[derive(Debug)]
pub struct Rows {
    pub(super) known: Extent,
    pub(super) strings: Vec<Box<[u8]>>,
    pub(super) frames: Vec<(Frame, Option<FxInfo>)>,
    /// Stacks one after another, and their lengths.
    pub(super) stack_frames: Vec<FrameId>,
    pub(super) stack_lens: Vec<usize>,
    /// Names of actions that this version does not know.
    pub(super) actions: Vec<StrId>,
    pub(super) later_actions: LaterActions,
    pub(super) pools: Vec<PoolKey>,
    /// Dicts and lists that it made; the first list is that of its items.
    pub(super) dicts: Dicts,
    pub(super) lists: Lists,
    pub(super) events: EventTable,
    /// Number of events that are in the list; the others wait.
    pub(super) appended: u32,
    pub(super) notes: Notes,
}

impl Builder {
    /// What was received up to `place`, with the events of `list` and those that are `waiting` as its rows.
    pub(super) fn rows(&mut self, list: Handle, waiting: &[Value], place: &SinkMark) -> Option<Rows> {
        let (known, taken) = (self.known?, self.taken);
        let [dicts, lists, events, notes] = place.map(|n| n as usize);
        // What comes behind the place is decoded again; rows and notes must not come twice.
        if self.events.len() != events || self.notes.total() as usize != notes || self.notes.has_oddities() {
            return None;
        }
        let appended = self.appended_events(list)?;
        let waiting: Option<Vec<u32>> = waiting.iter().map(|value| self.event_row(*value)).collect();
        let is_all = waiting?.into_iter().eq(appended..events as u32);
        let is_plain = self.dimensions.len() == known.dimensions && self.loose.dropped == 0;
        if !is_all || !is_plain {
            return None;
        }
        let stacks = taken.stacks..self.stacks.len();
        let stacks = stacks.map(|id| self.stacks.frames(oomscope_model::StackId(id as u32)));
        let rows = Rows {
            known,
            strings: (taken.strings..self.strings.len())
                .map(|id| self.strings.whole_bytes(StrId(id as u32)).into())
                .collect(),
            frames: (taken.frames..self.frames.len())
                .map(|id| self.frames.get(FrameId(id as u32)))
                .map(|frame| (frame, self.frames.fx(frame)))
                .collect(),
            stack_lens: stacks.clone().map(<[FrameId]>::len).collect(),
            stack_frames: stacks.flatten().copied().collect(),
            actions: self.actions.others()[taken.actions..].to_vec(),
            later_actions: std::mem::take(&mut self.later_actions),
            pools: self.pools.keys()[taken.pools..].to_vec(),
            dicts: self.dicts.part(known.dicts..dicts, std::mem::take(&mut self.spent.0)),
            lists: self.lists.part(known.lists..lists, std::mem::take(&mut self.spent.1)),
            events: std::mem::take(&mut self.events),
            appended,
            notes: std::mem::take(&mut self.notes),
        };
        rows.stands_alone(list).then_some(rows)
    }

    /// Number of events in a list that has the first rows, and nothing else.
    fn appended_events(&self, list: Handle) -> Option<u32> {
        let at = match self.lists.get(list) {
            ListState::Fresh => return Some(0),
            ListState::Records(at) => at,
            ListState::Loose(_) | ListState::Stack(_) => return None,
        };
        match (&self.record_lists[at as usize].kind, &self.record_lists[at as usize].rows[..]) {
            (RecordKind::Event, [rows]) if rows.start == 0 => Some(rows.end),
            _ => None,
        }
    }

    fn event_row(&self, value: Value) -> Option<u32> {
        match self.dicts.get(value.handle(Kind::Dict)?) {
            DictState::Record(RecordKind::Event, row) => Some(row),
            _ => None,
        }
    }
}

impl Rows {
    /// Whether all containers are what events and frames are made of.
    fn stands_alone(&self, items: Handle) -> bool {
        let is_fine = |state| {
            matches!(state, DictState::Fresh | DictState::Frame(_) | DictState::Record(RecordKind::Event, _))
        };
        let mut lists = self.lists.iter().skip(1);
        items.0 as usize == self.known.lists
            && self.dicts.iter().all(is_fine)
            && lists.all(|state| matches!(state, ListState::Fresh | ListState::Stack(_)))
    }
}
