//! Pieces of a trace that are decoded apart and then taken over.
//!
//! A piece's [`Builder`](super::Builder) is a fork of the whole one. It knows all strings, frames and stacks up to the fork under the
//! same ids; what it adds gets further ids of its own ([`Names`] translate them). Only events that say all they have to
//! say with what the piece knows are taken: a value of an unexpected type, or a row of another kind, ends the piece.

pub(crate) mod differential;
mod fork;
mod names;
mod rows;
mod take_over;
#[cfg(test)]
mod tests;

pub(crate) use names::Names;
pub(crate) use rows::Rows;

use super::builder::Builder;
use super::containers::ListState;
use super::keys::RecordKind;
use oomscope_pickle::{ErrorKind, Handle, Kind, PieceSink, SinkMark, Value};

impl PieceSink for Builder {
    type Rows = Rows;
    type Names = Names;

    fn fork(&mut self) -> Self {
        self.forked()
    }

    fn is_shape_of_items(&self, shape: u32) -> bool {
        self.shapes.get(shape as usize).kind == Some(RecordKind::Event)
    }

    fn key_text(&self, value: Value) -> Option<&[u8]> {
        let text = value.handle(Kind::Str).filter(|_| self.shapes.have_key(value))?;
        Some(self.strings.whole_bytes(Self::str_id(text)))
    }

    fn is_list_of_items(&self, list: Handle) -> bool {
        let ListState::Records(at) = self.lists.get(list) else { return false };
        let records = &self.record_lists[at as usize];
        records.kind == RecordKind::Event && self.events_before_pieces <= records.len()
    }

    fn take_rows(&mut self, list: Handle, waiting: &[Value], place: &SinkMark) -> Option<Rows> {
        let rows = self.rows(list, waiting, place);
        self.forget_piece();
        rows
    }

    fn has_appended(rows: &Rows) -> bool {
        rows.appended != 0
    }

    fn can_take_over(&self, list: Handle, waiting: &[Value]) -> bool {
        self.takes_events(list, waiting)
    }

    fn name_values(&mut self, rows: &Rows, names: &mut Names) -> Result<(), ErrorKind> {
        self.name_strings(rows, names)
    }

    #[inline]
    fn renamed(&self, value: Value, rows: &Rows, names: &Names) -> Option<Value> {
        names.value(value, rows, self)
    }

    fn take_over(
        &mut self,
        list: Handle,
        rows: &mut Rows,
        names: &mut Names,
        memo: impl Fn(u32) -> Option<Value>,
    ) -> Result<(), ErrorKind> {
        self.take_events_over(list, rows, names, memo)
    }

    fn reuse(&mut self, rows: Rows) {
        self.reuse_rows(rows);
    }
}
