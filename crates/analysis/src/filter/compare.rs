//! Comparisons with a number: the whole numbers that a query lets through.

use oomscope_units::quantity::{BYTE, Kind, Quantity, SIZES, TIMES, Unit};

/// A bound that no number reaches.
const BEYOND: i128 = i128::MAX;

/// The sign of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    /// `:` and `=`
    Is,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// Whole numbers from `first` to `last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) first: i64,
    pub(super) last: i64,
}

impl Interval {
    const EMPTY: Self = Self { first: 1, last: 0 };

    /// Bounds that lie outside of `i64` are cut.
    fn new(first: i128, last: i128) -> Self {
        let (low, high) = (i128::from(i64::MIN), i128::from(i64::MAX));
        if high < first || last < low {
            return Self::EMPTY;
        }
        Self { first: first.max(low) as i64, last: last.min(high) as i64 }
    }

    #[inline]
    pub(super) fn contains(self, n: i64) -> bool {
        self.first <= n && n <= self.last
    }

    /// Whether a number surely lies within, of which only `n` is known: it is exactly that, or else that
    /// or any more.
    #[inline]
    pub(super) fn covers(self, n: i64, is_exact: bool) -> bool {
        self.contains(n) && (is_exact || self.last == i64::MAX)
    }
}

/// The units that a term's numbers can have.
#[derive(Debug)]
pub(super) struct Scale {
    pub(super) units: &'static [Unit],
    /// The unit of a number without one, if it needs none.
    bare: Option<&'static Unit>,
}

/// Sizes are bytes where nothing else is said.
pub(super) static BYTES: Scale = Scale { units: SIZES, bare: Some(BYTE) };

/// Times always have a unit.
pub(super) static DURATIONS: Scale = Scale { units: TIMES, bare: None };

impl Scale {
    /// The numbers that a comparison with a value allows, in the kind's smallest unit. `None` where the
    /// text is no quantity.
    pub(super) fn interval(&self, op: Op, text: &str) -> Option<(Interval, Kind)> {
        if op == Op::Is
            && let Some((from, to)) = text.split_once("..")
        {
            return self.range(from, to);
        }
        let quantity = Quantity::read(text, self.units)?;
        let unit = quantity.unit.or(self.bare)?;
        let (first, last) = match op {
            Op::Is if quantity.is_whole() => (quantity.floor(unit), quantity.floor(unit)),
            Op::Is => quantity.reading_so(unit),
            Op::Less => (-BEYOND, quantity.ceil(unit) - 1),
            Op::AtMost => (-BEYOND, quantity.floor(unit)),
            Op::More => (quantity.floor(unit) + 1, BEYOND),
            Op::AtLeast => (quantity.ceil(unit), BEYOND),
        };
        Some((Interval::new(first, last), unit.kind))
    }

    /// `1MiB..2MiB`, `1..2MiB`, `..2MiB`, `1MiB..`
    fn range(&self, from: &str, to: &str) -> Option<(Interval, Kind)> {
        let read = |text: &str| match text {
            "" => Some(None),
            text => Quantity::read(text, self.units).map(Some),
        };
        let (from, to) = (read(from)?, read(to)?);
        let unit_of = |quantity: Option<Quantity>| quantity.and_then(|quantity| quantity.unit);
        // The first number may leave its unit to the second.
        let last_unit = unit_of(to).or(self.bare);
        let first_unit = unit_of(from).or(unit_of(to)).or(self.bare);
        let (first, kind) = match from {
            Some(quantity) => (quantity.ceil(first_unit?), first_unit?.kind),
            None => (-BEYOND, last_unit?.kind),
        };
        let last = match to {
            Some(quantity) if last_unit?.kind == kind => quantity.floor(last_unit?),
            Some(_) => return None,
            None => BEYOND,
        };
        (from.is_some() || to.is_some()).then(|| (Interval::new(first, last), kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(op: Op, text: &str) -> Option<(i64, i64)> {
        BYTES.interval(op, text).map(|(interval, _)| (interval.first, interval.last))
    }

    #[test]
    fn every_unit_is_binary() {
        for (text, bytes) in [
            ("7", 7),
            ("7B", 7),
            ("7kb", 7 << 10),
            ("7KiB", 7 << 10),
            ("7M", 7 << 20),
            ("7MB", 7 << 20),
            ("7 mib", 7 << 20),
            ("7GiB", 7 << 30),
            ("7TB", 7 << 40),
            ("2,823,946,240", 2_823_946_240),
            ("1_000", 1000),
            ("-5", -5),
        ] {
            assert_eq!(size(Op::Is, text), Some((bytes, bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        let long = "9".repeat(60);
        for text in ["", "MB", "1.2.3", "12x", ",", ".", "--1", "1MB2", "1ms", "..", "1..x", &long] {
            assert_eq!(size(Op::Is, text), None, "{text}");
        }
    }

    #[test]
    fn comparisons_are_exact_to_the_byte() {
        // 1.1 KiB is 1126.4 bytes.
        assert_eq!(size(Op::More, "1.1KiB").map(|i| i.0), Some(1127));
        assert_eq!(size(Op::AtLeast, "1.1KiB").map(|i| i.0), Some(1127));
        assert_eq!(size(Op::Less, "1.1KiB").map(|i| i.1), Some(1126));
        assert_eq!(size(Op::AtMost, "1.1KiB").map(|i| i.1), Some(1126));
        assert_eq!(size(Op::More, "1KiB").map(|i| i.0), Some(1025));
        assert_eq!(size(Op::Less, "1KiB").map(|i| i.1), Some(1023));
        // More than any size can be.
        assert_eq!(size(Op::More, "9999PiB"), Some((1, 0)));
    }

    #[test]
    fn a_decimal_point_means_what_reads_so() {
        // 1.0 KiB stands for 972.8 up to, but not including, 1075.2 bytes.
        assert_eq!(size(Op::Is, "1.0KiB"), Some((973, 1075)));
        assert_eq!(size(Op::Is, "0.5B"), Some((1, 0)));
    }

    #[test]
    fn ranges_include_both_ends() {
        assert_eq!(size(Op::Is, "1KiB..2KiB"), Some((1024, 2048)));
        assert_eq!(size(Op::Is, "1..2KiB"), Some((1024, 2048)));
        assert_eq!(size(Op::Is, "1KiB..2048"), Some((1024, 2048)));
        assert_eq!(size(Op::Is, "1KiB.."), Some((1024, i64::MAX)));
        assert_eq!(size(Op::Is, "..5"), Some((i64::MIN, 5)));
        assert_eq!(size(Op::Is, "0.5..1.5KiB"), Some((512, 1536)));
        assert_eq!(size(Op::More, "1..2"), None);
    }

    #[test]
    fn lifetimes_have_units_that_do_not_mix() {
        let lifetime = |text| DURATIONS.interval(Op::Is, text);
        assert_eq!(lifetime("10"), None);
        assert_eq!(lifetime("10ms"), Some((Interval { first: 10_000, last: 10_000 }, Kind::Microseconds)));
        assert_eq!(lifetime("3events"), Some((Interval { first: 3, last: 3 }, Kind::Events)));
        assert_eq!(lifetime("1..2min").map(|(i, _)| i.last), Some(120_000_000));
        assert_eq!(lifetime("1ms..5events"), None);
        for micro in ["5us", "5\u{b5}s", "5\u{3bc}s"] {
            assert_eq!(lifetime(micro).map(|(i, _)| i.first), Some(5), "{micro}");
        }
    }
}
