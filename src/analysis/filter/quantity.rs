//! Numbers with units: sizes, durations, counts of events.
//!
//! Everything is whole-number arithmetic, so that a comparison is exact to the byte.

/// A bound that no number reaches.
const BEYOND: i128 = i128::MAX;

/// How a value is compared.
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
    pub(super) const EMPTY: Self = Self { first: 1, last: 0 };

    /// Bounds that lie outside of what numbers can be are cut.
    pub(super) fn new(first: i128, last: i128) -> Self {
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

    /// Whether a number is known to lie within, of which `n` is all that is known: it is exactly
    /// that, or else that or any more.
    #[inline]
    pub(super) fn covers(self, n: i64, is_exact: bool) -> bool {
        self.contains(n) && (is_exact || self.last == i64::MAX)
    }
}

/// What a number can be followed by.
#[derive(Debug)]
pub(super) struct Unit {
    names: &'static [&'static str],
    /// How many of the smallest unit it is.
    size: i64,
    /// What kind of quantity it makes: kinds do not mix in a range.
    pub(super) kind: Kind,
}

/// Kinds of quantities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bytes,
    Microseconds,
    Events,
}

const fn unit(names: &'static [&'static str], size: i64, kind: Kind) -> Unit {
    Unit { names, size, kind }
}

/// Units of sizes. Names that look decimal mean the binary unit too: this is what PyTorch prints.
pub(super) const SIZES: &[Unit] = &[
    unit(&["b", "byte", "bytes"], 1, Kind::Bytes),
    unit(&["kib", "kb", "k"], 1 << 10, Kind::Bytes),
    unit(&["mib", "mb", "m"], 1 << 20, Kind::Bytes),
    unit(&["gib", "gb", "g"], 1 << 30, Kind::Bytes),
    unit(&["tib", "tb", "t"], 1 << 40, Kind::Bytes),
    unit(&["pib", "pb", "p"], 1 << 50, Kind::Bytes),
];

/// Units of lifetimes. Both letters that look like a micro sign count.
pub(super) const LIFETIMES: &[Unit] = &[
    unit(&["us", "\u{b5}s", "\u{3bc}s"], 1, Kind::Microseconds),
    unit(&["ms"], 1_000, Kind::Microseconds),
    unit(&["s", "sec"], 1_000_000, Kind::Microseconds),
    unit(&["min"], 60_000_000, Kind::Microseconds),
    unit(&["h"], 3_600_000_000, Kind::Microseconds),
    unit(&["events", "event"], 1, Kind::Events),
];

/// The unit of a name.
pub(super) fn unit_named(name: &str, units: &'static [Unit]) -> Option<&'static Unit> {
    let name = name.to_lowercase();
    units.iter().find(|unit| unit.names.contains(&name.as_str()))
}

/// A decimal number, still as it was written.
#[derive(Debug, Clone, Copy)]
struct Number {
    /// All digits as one whole number.
    digits: i128,
    /// How many of them stand behind the point.
    decimals: u32,
}

impl Number {
    /// A number at the start of a text, and what follows it. Digits may be grouped with `,` or `_`.
    fn read(text: &str) -> Option<(Self, &str)> {
        const MOST_DECIMALS: u32 = 15;
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let len = unsigned.find(|c: char| !c.is_ascii_digit() && !matches!(c, ',' | '_' | '.'));
        let (number, rest) = unsigned.split_at(len.unwrap_or(unsigned.len()));
        let (mut digits, mut decimals, mut has_point, mut has_digit) = (0i128, 0, false, false);
        for c in number.chars() {
            match c.to_digit(10) {
                Some(digit) => {
                    // Far more than any size, far less than overflows with a unit.
                    digits = digits.checked_mul(10)?.checked_add(i128::from(digit))?;
                    (digits < 1 << 70).then_some(())?;
                    has_digit = true;
                    decimals += u32::from(has_point);
                }
                None if c == '.' && !has_point => has_point = true,
                None if c != '.' && has_digit && !has_point => {}
                None => return None,
            }
        }
        let is_number = has_digit && decimals <= MOST_DECIMALS && !number.ends_with([',', '_', '.']);
        let digits = if unsigned.len() < text.len() { -digits } else { digits };
        is_number.then_some((Self { digits, decimals }, rest))
    }
}

/// A number with its unit.
#[derive(Debug, Clone, Copy)]
struct Quantity {
    number: Number,
    unit: Option<&'static Unit>,
}

impl Quantity {
    fn read(text: &str, units: &'static [Unit]) -> Option<Self> {
        let (number, rest) = Number::read(text)?;
        let name = rest.trim_start();
        if name.is_empty() {
            return Some(Self { number, unit: None });
        }
        Some(Self { number, unit: Some(unit_named(name, units)?) })
    }

    /// The exact value is this fraction.
    fn fraction(self, unit: &Unit) -> (i128, i128) {
        (self.number.digits * i128::from(unit.size), 10i128.pow(self.number.decimals))
    }
}

fn floor((n, d): (i128, i128)) -> i128 {
    n.div_euclid(d)
}

fn ceil((n, d): (i128, i128)) -> i128 {
    -(-n).div_euclid(d)
}

/// The numbers that a comparison with a value allows, in the kind's smallest unit. `None` where the
/// text is no quantity. `bare` is the unit of a number without one, if it needs none.
pub(super) fn interval(
    op: Op,
    text: &str,
    units: &'static [Unit],
    bare: Option<&'static Unit>,
) -> Option<(Interval, Kind)> {
    if op == Op::Is
        && let Some((from, to)) = text.split_once("..")
    {
        return range(from, to, units, bare);
    }
    let quantity = Quantity::read(text, units)?;
    let unit = quantity.unit.or(bare)?;
    let value = quantity.fraction(unit);
    let (first, last) = match op {
        Op::Is if quantity.number.decimals == 0 => (floor(value), floor(value)),
        Op::Is => {
            // What reads so when it is rounded to as many digits.
            let (n, d) = value;
            let half = i128::from(unit.size);
            (ceil((2 * n - half, 2 * d)), ceil((2 * n + half, 2 * d)) - 1)
        }
        Op::Less => (-BEYOND, ceil(value) - 1),
        Op::AtMost => (-BEYOND, floor(value)),
        Op::More => (floor(value) + 1, BEYOND),
        Op::AtLeast => (ceil(value), BEYOND),
    };
    Some((Interval::new(first, last), unit.kind))
}

/// `1MiB..2MiB`, `1..2MiB`, `..2MiB`, `1MiB..`
fn range(
    from: &str,
    to: &str,
    units: &'static [Unit],
    bare: Option<&'static Unit>,
) -> Option<(Interval, Kind)> {
    let read = |text: &str| match text {
        "" => Some(None),
        text => Quantity::read(text, units).map(Some),
    };
    let (from, to) = (read(from)?, read(to)?);
    let unit_of = |quantity: Option<Quantity>| quantity.and_then(|quantity| quantity.unit);
    // The first number may leave its unit to the second.
    let last_unit = unit_of(to).or(bare);
    let first_unit = unit_of(from).or(unit_of(to)).or(bare);
    let (first, kind) = match from {
        Some(quantity) => (ceil(quantity.fraction(first_unit?)), first_unit?.kind),
        None => (-BEYOND, last_unit?.kind),
    };
    let last = match to {
        Some(quantity) if last_unit?.kind == kind => floor(quantity.fraction(last_unit?)),
        Some(_) => return None,
        None => BEYOND,
    };
    (from.is_some() || to.is_some()).then(|| (Interval::new(first, last), kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(op: Op, text: &str) -> Option<(i64, i64)> {
        interval(op, text, SIZES, SIZES.first()).map(|(interval, _)| (interval.first, interval.last))
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
        for text in
            ["", "MB", "1.2.3", "12x", "1,", ",1", "1.", ".", "--1", "1MB2", "1ms", "..", "1..x", &long]
        {
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
        let lifetime = |text| interval(Op::Is, text, LIFETIMES, None);
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
