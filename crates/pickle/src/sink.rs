//! The interface between the decoder and the user of its values.

use super::{ErrorKind, Handle, Value};

/// How much a sink has received, in numbers of its own.
pub type SinkMark = [u64; 4];

/// Receives strings and containers as they are completed, and names them with handles.
///
/// Containers arrive bottom up: the items of a list or dict are handed over once they are on the
/// stack, as values that may be handles which the sink gave out earlier. A list or dict can be
/// extended several times, as picklers write large ones in batches.
pub trait Sink {
    /// A `str`. The bytes are what the pickle holds: UTF-8, possibly with surrogates.
    fn string(&mut self, text: &[u8]) -> Result<Handle, ErrorKind>;

    /// A `bytes` or `bytearray` object.
    fn bytes(&mut self, bytes: &[u8]) -> Result<Handle, ErrorKind>;

    /// A new, empty list.
    fn list(&mut self) -> Result<Handle, ErrorKind>;

    /// A new, empty dict.
    fn dict(&mut self) -> Result<Handle, ErrorKind>;

    /// A new, empty set.
    fn set(&mut self) -> Result<Handle, ErrorKind>;

    /// A complete tuple.
    fn tuple(&mut self, items: &[Value]) -> Result<Handle, ErrorKind>;

    /// Append `items` to a list.
    fn extend_list(&mut self, list: Handle, items: &[Value]) -> Result<(), ErrorKind>;

    /// Set entries of a dict: `pairs` alternates keys and values, its length is even.
    fn update_dict(&mut self, dict: Handle, pairs: &[Value]) -> Result<(), ErrorKind>;

    /// A name for dicts with these keys in this order, under which [`Self::update_dict_shaped`] takes
    /// values alone. `None` where such dicts mean nothing to the sink.
    fn shape(&mut self, keys: &[Value]) -> Option<u32>;

    /// Set all entries of a new dict: one value for each key of a [`shape`](Self::shape).
    fn update_dict_shaped(&mut self, dict: Handle, shape: u32, values: &[Value]) -> Result<(), ErrorKind>;

    /// Add `items` to a set.
    fn extend_set(&mut self, set: Handle, items: &[Value]) -> Result<(), ErrorKind>;

    /// What was received so far, for comparing: it changes with every container, row and oddity.
    fn place(&self) -> SinkMark {
        SinkMark::default()
    }

    /// Bytes of memory that the sink's tables take so far, roughly.
    fn held_bytes(&self) -> usize;

    /// A name for the current contents of a list, under which [`Self::repeat_list`] can make equal lists.
    /// `None` where the sink has no such name.
    fn list_contents(&self, list: Handle) -> Option<u32>;

    /// A new list with the items that [`Self::list_contents`] gave a name to.
    fn repeat_list(&mut self, contents: u32) -> Result<Handle, ErrorKind>;

    /// The input ended inside this list: `items` are the whole items that were read and not yet
    /// appended; more would have followed.
    fn interrupted_list(&mut self, list: Handle, items: &[Value]) -> Result<(), ErrorKind>;

    /// The input ended inside this dict: `pairs` are the whole pairs that were read and not yet
    /// set; more may have followed.
    fn interrupted_dict(&mut self, dict: Handle, pairs: &[Value]) -> Result<(), ErrorKind>;
}
