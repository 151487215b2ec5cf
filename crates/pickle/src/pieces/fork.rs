//! What a machine knows in the middle of a long list.

use super::memo::PieceMemo;
use super::sink::PieceSink;
use crate::feed::ChunkSource;
use crate::machine::Machine;
use crate::memo::{Memo, MemoTable as _};
use crate::skeleton::Skeletons;
use crate::{Kind, opcode};

/// The knowledge with which pieces are decoded.
#[derive(Debug)]
pub struct Fork<K> {
    pub(super) memo: Memo,
    pub(super) skeletons: Skeletons,
    pub(super) sink: K,
    /// The bytes around the start of an item: the end of the item before it, and its first key.
    pub(super) pattern: Vec<u8>,
}

impl<K: PieceSink> Fork<K> {
    /// The state of `machine`, if it is between two items of a list that may be decoded in pieces.
    pub(super) fn of<S: ChunkSource>(machine: &mut Machine<'_, S, K, Memo>) -> Option<Self> {
        Some(Self {
            pattern: Self::pattern(machine)?,
            memo: machine.memo.clone(),
            skeletons: machine.skeletons.clone(),
            sink: machine.sink.fork(),
        })
    }

    /// The bytes by which pieces find an item; `None` where there can be no fork.
    pub(super) fn pattern<S: ChunkSource>(machine: &Machine<'_, S, K, Memo>) -> Option<Vec<u8>> {
        let list = machine.open_list()?;
        if !machine.memo.next_is_new() || machine.memo.replacements() != 0 {
            return None;
        }
        if !machine.sink.is_list_of_items(list) {
            return None;
        }
        let sink = &*machine.sink;
        let key = machine.skeletons.first_key(|shape| sink.is_shape_of_items(shape))?;
        let mut pattern = vec![opcode::SETITEMS, opcode::EMPTY_DICT, opcode::MEMOIZE, opcode::MARK];
        pattern.extend(key);
        Some(pattern)
    }

    pub(super) fn piece_memo(&self) -> PieceMemo {
        PieceMemo::new(self.memo.clone())
    }
}

impl<S: ChunkSource, K: PieceSink> Machine<'_, S, K, Memo> {
    /// The list whose items the topmost MARK collects, if the latest value is one of them.
    pub(super) fn open_list(&self) -> Option<crate::Handle> {
        let at = *self.marks.last()?;
        let top = self.stack.last()?;
        if self.stack.len() <= at || top.handle(Kind::Dict).is_none() {
            return None;
        }
        self.stack[at.checked_sub(1)?].handle(Kind::List)
    }
}
