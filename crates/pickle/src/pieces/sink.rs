//! The interface between pieces and the user of their values.

use crate::{ErrorKind, Handle, Sink, SinkMark, Value};

/// A sink that can receive pieces of a pickle apart, and take them over later.
///
/// The sink of a piece knows everything that the whole sink knew at the fork, under the same handles. What it receives gets
/// further handles, which mean something else to the whole sink: [`Names`](Self::Names) translate them. Pieces
/// of one decoder are taken over in their order, so that a translation stays good for its later pieces.
pub trait PieceSink: Sink + Sized {
    /// The content of a piece.
    type Rows;
    /// The handles of one decoder, in terms of the whole sink.
    type Names: Default;

    /// A sink for pieces, with what is known now.
    fn fork(&mut self) -> Self;

    /// Whether dicts of a shape are items of a list that may be decoded in pieces.
    fn is_shape_of_items(&self, shape: u32) -> bool;

    /// The text of a string that is a key of some dict.
    fn key_text(&self, value: Value) -> Option<&[u8]>;

    /// Whether a list has such items, enough to have shown what the others look like.
    fn is_list_of_items(&self, list: Handle) -> bool;

    /// The content of a piece: the items of `list`, those that are `waiting` to be appended to it, and what belongs to them.
    /// `place` is how much of it counts; what was received after it is dropped. `None` if it cannot stand on its own.
    fn take_rows(&mut self, list: Handle, waiting: &[Value], place: &SinkMark) -> Option<Self::Rows>;

    /// Whether items of a piece are in its list, and not only waiting.
    fn has_appended(rows: &Self::Rows) -> bool;

    /// Whether a list can take over items after those that wait on the stack to be appended to it.
    fn can_take_over(&self, list: Handle, waiting: &[Value]) -> bool;

    /// Translate the strings and tuples of a piece.
    ///
    /// # Errors
    /// [`ErrorKind::NotAlone`] if a limit is exceeded.
    fn name_values(&mut self, rows: &Self::Rows, names: &mut Self::Names) -> Result<(), ErrorKind>;

    /// A value of the piece, translated. `None` if it has no meaning outside.
    fn renamed(&self, value: Value, rows: &Self::Rows, names: &Self::Names) -> Option<Value>;

    /// Take over what a piece received, with the items of its list at the end of `list`. `memo` has the entries of the pickle
    /// up to the end of the piece.
    ///
    /// # Errors
    /// [`ErrorKind::NotAlone`] if an entry is not what the piece took it for, or a limit is exceeded.
    fn take_over(
        &mut self,
        list: Handle,
        rows: &mut Self::Rows,
        names: &mut Self::Names,
        memo: impl Fn(u32) -> Option<Value>,
    ) -> Result<(), ErrorKind>;

    /// Use the memory of a piece that was taken over for the next one.
    fn reuse(&mut self, rows: Self::Rows);
}
