//! Typed figures: the only way for a number to get into a sentence.
//!
//! A figure that is a part of something knows its whole, so that a statement of which the part is larger than the whole is
//! refused rather than made.

use oomscope_model::{Bytes, EventIx};
use oomscope_units as units;

/// A value with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// Bytes.
    Bytes(Bytes),
    /// A number of things.
    Count(u64),
    /// A share, from 0 to 1.
    Share(f64),
    /// A multiple of something.
    Times(f64),
    /// An event: its index in the trace.
    Event(EventIx),
}

impl Value {
    /// The value as text.
    pub fn text(self) -> String {
        match self {
            Self::Bytes(bytes) => units::bytes(bytes),
            Self::Count(n) => units::count(n),
            Self::Share(share) if 0.0 < share && share < 0.01 => "less than 1 %".to_owned(),
            Self::Share(share) => format!("{:.0} %", share * 100.0),
            Self::Times(times) => format!("{times:.1}"),
            Self::Event(event) => format!("event {}", units::count(event.0)),
        }
    }

    /// The unit: `bytes`, `count`, `share`, `times` or `event`.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Bytes(_) => "bytes",
            Self::Count(_) => "count",
            Self::Share(_) => "share",
            Self::Times(_) => "times",
            Self::Event(_) => "event",
        }
    }

    /// Whether it is more than a value of the same unit.
    fn is_above(self, whole: Self) -> bool {
        match (self, whole) {
            (Self::Bytes(part), Self::Bytes(whole)) => whole < part,
            (Self::Count(part), Self::Count(whole)) => whole < part,
            (Self::Share(part), Self::Share(whole)) => whole < part,
            _ => false,
        }
    }
}

/// A value in a sentence or a table, with the whole that it is a part of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    value: Value,
    part_of: Option<Value>,
    /// The noun behind a count, in the singular.
    noun: Option<&'static str>,
    is_mostly_inferred: bool,
}

impl Figure {
    fn new(value: Value) -> Self {
        Self { value, part_of: None, noun: None, is_mostly_inferred: false }
    }

    /// The same bytes as a part of others.
    pub(super) fn of(self, whole_bytes: Bytes) -> Self {
        Self { part_of: Some(Value::Bytes(whole_bytes)), ..self }
    }

    /// The same number as a part of a larger one.
    pub(super) fn of_count(self, whole: usize) -> Self {
        Self { part_of: Some(Value::Count(whole as u64)), ..self }
    }

    /// The figure, marked if most of it is inferred.
    pub(super) fn inferred(self, is_mostly_inferred: bool) -> Self {
        Self { is_mostly_inferred, ..self }
    }

    /// Its value.
    pub fn value(self) -> Value {
        self.value
    }

    /// The whole that it is a part of.
    pub fn part_of(self) -> Option<Value> {
        self.part_of
    }

    /// Whether it is larger than its whole: a figure that must not be stated.
    pub(super) fn is_refused(self) -> bool {
        self.part_of.is_some_and(|whole| self.value.is_above(whole))
    }

    /// The figure as text: `≈ 1.88 GiB`, `14 holes`.
    pub fn text(self) -> String {
        match (self.value, self.noun) {
            (Value::Count(n), Some(noun)) => units::counted(usize::try_from(n).unwrap_or(usize::MAX), noun),
            (value, _) if self.is_mostly_inferred => format!("≈ {}", value.text()),
            (value, _) => value.text(),
        }
    }
}

/// Bytes.
pub(super) fn bytes(bytes: Bytes) -> Figure {
    Figure::new(Value::Bytes(bytes))
}

/// A number of things, whose noun the sentence has.
pub(super) fn count(n: impl TryInto<u64>) -> Figure {
    Figure::new(Value::Count(n.try_into().unwrap_or(0)))
}

/// A number of things with their noun: `1 hole`, `14 holes`.
pub(super) fn counted(n: usize, noun: &'static str) -> Figure {
    Figure { noun: Some(noun), ..count(n) }
}

/// The share of some bytes in others, in percent.
pub(super) fn share(part_bytes: Bytes, whole_bytes: Bytes) -> Figure {
    ratio(oomscope_program::share::share(part_bytes, whole_bytes))
}

/// A share that does not come from two numbers of bytes, from 0 to 1.
pub(super) fn ratio(share: f64) -> Figure {
    Figure { part_of: Some(Value::Share(1.0)), ..Figure::new(Value::Share(share)) }
}

/// A multiple: `2.0`.
pub(super) fn times(times: f64) -> Figure {
    Figure::new(Value::Times(times))
}

/// An event: `event 1,988`.
pub(super) fn event(event: EventIx) -> Figure {
    Figure::new(Value::Event(event))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_above_its_whole_is_refused() {
        assert!(!bytes(Bytes(5)).is_refused());
        assert!(!bytes(Bytes(5)).of(Bytes(5)).is_refused());
        assert!(bytes(Bytes(6)).of(Bytes(5)).is_refused());
        assert!(count(3).of_count(2).is_refused());
        assert!(share(Bytes(3), Bytes(2)).is_refused());
        assert!(!share(Bytes(2), Bytes(2)).is_refused());
    }

    #[test]
    fn text_has_the_unit_the_noun_and_the_mark() {
        assert_eq!(bytes(Bytes(1 << 30)).text(), "1.00 GiB");
        assert_eq!(bytes(Bytes(1 << 30)).inferred(true).text(), "≈ 1.00 GiB");
        assert_eq!(counted(1, "hole").text(), "1 hole");
        assert_eq!(counted(1400, "hole").text(), "1,400 holes");
        assert_eq!(share(Bytes(1), Bytes(3)).text(), "33 %");
        assert_eq!(share(Bytes(1), Bytes(3000)).text(), "less than 1 %");
        assert_eq!(event(EventIx(1988)).text(), "event 1,988");
    }
}
