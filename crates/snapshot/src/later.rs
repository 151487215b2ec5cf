//! References of a piece to memo entries that are not known yet.
//!
//! While a piece is decoded apart, such a reference takes the place of an id of the model, marked by its highest bit. No
//! table has as many entries. When the piece is taken over, all of them are replaced.

use oomscope_model::{Action, FrameId, StackId};

/// The bit that marks a reference.
const MARK: u32 = 1 << 31;

/// Codes of unknown actions from this one on stand for references: [`ActionNames`](oomscope_model::ActionNames) keeps fewer names.
const FIRST_ACTION: u8 = 200;

/// The most actions of a piece that are references. Recordings have about ten actions in all.
const MAX_ACTIONS: usize = 40;

/// The id that stands for a memo entry.
#[inline]
pub(super) fn mark(index: u32) -> u32 {
    index | MARK
}

/// The memo entry that an id stands for; `None` if it is an id of its table.
#[inline]
pub(super) fn index(id: u32) -> Option<u32> {
    (id & MARK != 0).then_some(id & !MARK)
}

/// A frame that is a memo entry.
pub(super) fn frame(entry: u32) -> FrameId {
    FrameId(mark(entry))
}

/// A stack that is a memo entry.
pub(super) fn stack(entry: u32) -> StackId {
    StackId(mark(entry))
}

/// Names of actions that are memo entries.
#[derive(Debug, Default, Clone)]
pub(super) struct LaterActions(Vec<u32>);

impl LaterActions {
    /// The action that stands for a memo entry; `None` if there are too many.
    pub(super) fn action(&mut self, entry: u32) -> Option<Action> {
        let at = self.0.iter().position(|&known| known == entry).unwrap_or_else(|| {
            self.0.push(entry);
            self.0.len() - 1
        });
        (at < MAX_ACTIONS).then(|| Action::Other(FIRST_ACTION + at as u8))
    }

    /// The memo entry that an action stands for.
    pub(super) fn index(&self, action: Action) -> Option<u32> {
        match action {
            Action::Other(code) => self.0.get(usize::from(code.checked_sub(FIRST_ACTION)?)).copied(),
            _ => None,
        }
    }
}
