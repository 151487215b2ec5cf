//! One value of a table.

use oomscope_model::{Bytes, PoolKey, StackId};
use std::borrow::Cow;

/// One value of a table. Formats write it without knowing its column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell<'a> {
    /// Not recorded, or without meaning in this row.
    Null,
    /// A number that may be below 0.
    Int(i64),
    /// An address.
    Address(u64),
    /// Yes or no.
    Bool(bool),
    /// A text, as it was recorded.
    Text(Cow<'a, str>),
    /// A memory pool: `(0, 0)` as text. Most rows have one, and none needs memory of its own.
    Pool(PoolKey),
}

impl From<Bytes> for Cell<'_> {
    fn from(bytes: Bytes) -> Self {
        Self::Int(bytes.0)
    }
}

impl<'a> Cell<'a> {
    /// A number that may be unknown.
    pub(super) fn int(value: Option<impl Into<i64>>) -> Self {
        value.map_or(Self::Null, |value| Self::Int(value.into()))
    }

    /// A text.
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// A pool that may be unknown.
    pub(super) fn pool(pool: Option<PoolKey>) -> Self {
        pool.map_or(Self::Null, Self::Pool)
    }

    /// A stack as a number; unknown if none was recorded.
    pub(super) fn stack(stack: StackId) -> Self {
        if stack == StackId::EMPTY { Self::Null } else { Self::Int(stack.0.into()) }
    }
}
