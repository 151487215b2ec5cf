//! Builders of pieces.

use super::rows::Rows;
use crate::builder::Builder;
use crate::extent::Extent;

impl Builder {
    /// A builder for pieces, which knows what this one knows.
    pub(super) fn forked(&mut self) -> Self {
        let known = self.known.unwrap_or_else(|| self.extent());
        // From now on, this one notices changes to what both know.
        self.shared.get_or_insert(known);
        Self {
            strings: self.strings.clone(),
            frames: self.frames.clone(),
            stacks: self.stacks.clone(),
            actions: self.actions.clone(),
            dicts: self.dicts.clone(),
            lists: self.lists.clone(),
            loose: self.loose.clone(),
            record_lists: self.record_lists.clone(),
            pools: self.pools.clone(),
            dimensions: self.dimensions.clone(),
            keys: self.keys.clone(),
            shapes: self.shapes.clone(),
            action_of_string: self.action_of_string.clone(),
            known: Some(known),
            taken: known,
            ..Self::default()
        }
    }

    pub(super) fn extent(&self) -> Extent {
        Extent {
            strings: self.strings.len(),
            frames: self.frames.len(),
            stacks: self.stacks.len(),
            actions: self.actions.others().len(),
            pools: self.pools.len(),
            dimensions: self.dimensions.len(),
            dicts: self.dicts.len(),
            lists: self.lists.len(),
            record_lists: self.record_lists.len(),
        }
    }

    /// Put the next piece where another one was. Memory that is asked for anew costs a page fault for each 4 KiB.
    pub(super) fn reuse_rows(&mut self, rows: Rows) {
        self.spent = (rows.dicts, rows.lists);
        self.events = rows.events;
        self.events.clear();
    }

    /// Forget the containers and rows of a piece. Strings, frames and stacks stay for the next one.
    pub(super) fn forget_piece(&mut self) {
        let known = self.known.unwrap_or_default();
        self.taken = self.extent();
        self.dicts.truncate(known.dicts);
        self.lists.truncate(known.lists);
        self.record_lists.truncate(known.record_lists);
        self.events.clear();
        self.notes = Default::default();
        self.later_actions = Default::default();
    }
}
