//! The ids of a piece's decoder, in terms of the whole snapshot.

use super::rows::Rows;
use crate::builder::Builder;
use crate::later;
use oomscope_model::{Action, FrameId, FxInfo, StackId, StrId};
use oomscope_pickle::{ErrorKind, Handle, Kind, Sink as _, Value, View};

/// The ids of one decoder beyond those that were known at the fork, by their order.
#[derive(Debug, Default)]
pub struct Names {
    strings: Vec<StrId>,
    pub(super) frames: Vec<FrameId>,
    pub(super) stacks: Vec<StackId>,
    actions: Vec<StrId>,
    pools: Vec<Handle>,
    /// Where the containers of the current piece begin among all.
    dicts_from: u32,
    lists_from: u32,
}

impl Builder {
    /// Give the strings and pools of a piece their ids, and its containers their handles.
    pub(super) fn name_strings(&mut self, rows: &Rows, names: &mut Names) -> Result<(), ErrorKind> {
        for text in &rows.strings {
            // A limit that the text exceeds is reported by the decoder that decodes all of it.
            let handle = self.string(text).map_err(|_limit| ErrorKind::NotAlone)?;
            names.strings.push(Self::str_id(handle));
        }
        for pool in &rows.pools {
            names.pools.push(self.pools.add(&[Value::int(pool.0), Value::int(pool.1)]));
        }
        for &name in &rows.actions {
            names.actions.push(names.known_string(name, rows).ok_or(ErrorKind::NotAlone)?);
        }
        (names.dicts_from, names.lists_from) = (self.dicts.len() as u32, self.lists.len() as u32);
        let [dicts, lists] = [(self.dicts.len(), rows.dicts.len()), (self.lists.len(), rows.lists.len())];
        let has_room = [dicts, lists].iter().all(|(old, new)| old + new < Handle::LIMIT as usize - 1);
        if has_room { Ok(()) } else { Err(ErrorKind::NotAlone) }
    }
}

impl Names {
    /// A string that is no reference.
    fn known_string(&self, StrId(id): StrId, rows: &Rows) -> Option<StrId> {
        match (id as usize).checked_sub(rows.known.strings) {
            None => Some(StrId(id)),
            Some(own) => self.strings.get(own).copied(),
        }
    }

    /// A string, by the memo if it is a reference.
    pub(super) fn string(
        &self,
        id: StrId,
        rows: &Rows,
        memo: &impl Fn(u32) -> Option<Value>,
    ) -> Option<StrId> {
        match later::index(id.0) {
            Some(entry) => memo(entry)?.handle(Kind::Str).map(Builder::str_id),
            None => self.known_string(id, rows),
        }
    }

    pub(super) fn fx(&self, fx: FxInfo, rows: &Rows, memo: &impl Fn(u32) -> Option<Value>) -> Option<FxInfo> {
        let text = |id: Option<StrId>| id.map_or(Some(None), |id| self.string(id, rows, memo).map(Some));
        Some(FxInfo {
            op: text(fx.op)?,
            name: text(fx.name)?,
            target: text(fx.target)?,
            trace: text(fx.trace)?,
        })
    }

    /// A frame that is no reference.
    pub(super) fn frame(&self, FrameId(id): FrameId, rows: &Rows) -> Option<FrameId> {
        match (id as usize).checked_sub(rows.known.frames) {
            None => Some(FrameId(id)),
            Some(own) => self.frames.get(own).copied(),
        }
    }

    /// A stack that is no reference.
    #[inline]
    pub(super) fn stack(&self, StackId(id): StackId, rows: &Rows) -> Option<StackId> {
        match (id as usize).checked_sub(rows.known.stacks) {
            None => Some(StackId(id)),
            Some(own) => self.stacks.get(own).copied(),
        }
    }

    /// The name of an action that has one of its own in the piece.
    pub(super) fn action_name(
        &self,
        action: Action,
        rows: &Rows,
        memo: &impl Fn(u32) -> Option<Value>,
    ) -> Option<StrId> {
        if let Some(entry) = rows.later_actions.index(action) {
            return memo(entry)?.handle(Kind::Str).map(Builder::str_id);
        }
        let Action::Other(code) = action else { return None };
        self.actions.get(usize::from(code).checked_sub(rows.known.actions)?).copied()
    }

    /// A string or container of the piece, as a value of the whole.
    #[inline]
    pub(super) fn value(&self, value: Value, rows: &Rows, all: &Builder) -> Option<Value> {
        let View::Ref(kind, Handle(id)) = value.view() else { return None };
        let own = |known: usize| (id as usize).checked_sub(known);
        let handle = match kind {
            Kind::Dict => own(rows.known.dicts).map_or(id, |at| self.dicts_from + at as u32),
            // The list of the items is that which takes the piece over, and has no number here.
            Kind::List => match own(rows.known.lists) {
                None => id,
                Some(at) => self.lists_from + (at as u32).checked_sub(1)?,
            },
            Kind::Str => self.known_string(StrId(id), rows)?.0,
            Kind::Tuple => match own(rows.known.pools) {
                Some(at) if at < self.pools.len() => self.pools[at].0,
                // A tuple that means nothing, or dimensions, which a piece adds none to.
                _ => return all.tuple_has_same_handle(id, rows.known.pools).then_some(value),
            },
            Kind::Bytes | Kind::Set => id,
        };
        Some(Value::reference(kind, Handle(handle)))
    }
}

impl Builder {
    /// Whether a tuple of a piece has the same handle here: a pool that was known, or no pool.
    fn tuple_has_same_handle(&self, tuple: u32, known_pools: usize) -> bool {
        (tuple as usize) < known_pools || self.pools.get(Handle(tuple)).is_none()
    }
}
