//! Columns: their names, types, units and meaning, from which every format and the documentation take them.

use super::cell::Cell;
use super::selection::Selection;

/// The type of a column. Every column may have unknown values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A signed number of 64 bits.
    Int,
    /// An unsigned number of 64 bits.
    Address,
    /// True or false.
    Bool,
    /// UTF-8.
    Text,
}

impl Kind {
    /// Its name in the documentation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "int64",
            Self::Address => "uint64",
            Self::Bool => "bool",
            Self::Text => "text",
        }
    }
}

/// The unit of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// No unit: a name, a number of a thing.
    None,
    /// Bytes.
    Bytes,
    /// Microseconds since 1970.
    TimeUs,
    /// Microseconds.
    Us,
    /// The number of an event of the device, from 0.
    Event,
    /// A number of things.
    Count,
}

impl Unit {
    /// Its name in the documentation.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Bytes => "bytes",
            Self::TimeUs => "µs since 1970",
            Self::Us => "µs",
            Self::Event => "event",
            Self::Count => "count",
        }
    }
}

/// A column as formats and the documentation see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Its name, with the unit at its end.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Its unit.
    pub unit: Unit,
    /// Its meaning, as a phrase.
    pub about: &'static str,
}

/// Takes the value of a column from a row.
pub(super) type Get<R> = for<'a> fn(&'a Selection<'a>, &'a R) -> Cell<'a>;

/// A column of rows of one type.
pub(super) struct Column<R: 'static> {
    pub(super) info: ColumnInfo,
    pub(super) get: Get<R>,
}

/// A column without a unit.
pub(super) const fn column<R>(name: &'static str, kind: Kind, about: &'static str, get: Get<R>) -> Column<R> {
    Column { info: ColumnInfo { name, kind, unit: Unit::None, about }, get }
}

/// A column of numbers with a unit.
pub(super) const fn number<R>(name: &'static str, unit: Unit, about: &'static str, get: Get<R>) -> Column<R> {
    Column { info: ColumnInfo { name, kind: Kind::Int, unit, about }, get }
}
