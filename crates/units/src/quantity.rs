//! Sizes and times as users write them: one grammar for the command line, for fields and for queries.
//!
//! All arithmetic is on whole numbers, so that a size is exact to the byte however it is written.

/// A unit of sizes or times.
#[derive(Debug)]
pub struct Unit {
    /// Its names, in lower case.
    names: &'static [&'static str],
    /// Its size in the smallest unit of its kind.
    size: i64,
    /// Its kind. Kinds do not mix in a range.
    pub kind: Kind,
}

/// Kinds of quantities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Sizes.
    Bytes,
    /// Times.
    Microseconds,
    /// Counts of events.
    Events,
}

const fn unit(names: &'static [&'static str], size: i64, kind: Kind) -> Unit {
    Unit { names, size, kind }
}

/// The unit of a size that has none.
pub const BYTE: &Unit = &unit(&["b", "byte", "bytes"], 1, Kind::Bytes);

/// Units of sizes. Names that look decimal mean the binary unit too: PyTorch prints them so.
pub const SIZES: &[Unit] = &[
    unit(BYTE.names, BYTE.size, BYTE.kind),
    unit(&["kib", "kb", "k"], 1 << 10, Kind::Bytes),
    unit(&["mib", "mb", "m"], 1 << 20, Kind::Bytes),
    unit(&["gib", "gb", "g"], 1 << 30, Kind::Bytes),
    unit(&["tib", "tb", "t"], 1 << 40, Kind::Bytes),
    unit(&["pib", "pb", "p"], 1 << 50, Kind::Bytes),
];

/// Units of times, which can be counted in events, too. Both letters that look like a micro sign count.
pub const TIMES: &[Unit] = &[
    unit(&["us", "\u{b5}s", "\u{3bc}s"], 1, Kind::Microseconds),
    unit(&["ms"], 1_000, Kind::Microseconds),
    unit(&["s", "sec"], 1_000_000, Kind::Microseconds),
    unit(&["min"], 60_000_000, Kind::Microseconds),
    unit(&["h"], 3_600_000_000, Kind::Microseconds),
    unit(&["events", "event"], 1, Kind::Events),
];

/// The unit with a name; case does not matter.
pub fn unit_named(name: &str, units: &'static [Unit]) -> Option<&'static Unit> {
    let name = name.to_lowercase();
    units.iter().find(|unit| unit.names.contains(&name.as_str()))
}

/// The bytes of a size such as `80GiB`, `1.5 MB` or `512`, rounded to whole bytes; `None` if the text is no
/// size.
///
/// All units are powers of 1024, as in PyTorch; case does not matter, and digits may be grouped with `,`
/// or `_`.
pub fn parse_bytes(text: &str) -> Option<i64> {
    let quantity = Quantity::read(text, SIZES)?;
    let bytes = quantity.rounded(quantity.unit.unwrap_or(BYTE));
    i64::try_from(bytes).ok().filter(|_| !quantity.number.is_negative)
}

/// A decimal number as it was written.
#[derive(Debug, Clone, Copy)]
struct Number {
    is_negative: bool,
    /// All digits as one whole number.
    digits: i128,
    /// Number of digits after the point.
    decimals: u32,
}

impl Number {
    /// `digits` stays below this: multiplied by the largest unit (2^50) and by 2, it fits into an `i128`.
    const DIGITS_END: i128 = 1 << 75;

    /// Largest number of decimals: twice ten to the power of it fits into an `i128`.
    const MAX_DECIMALS: u32 = 22;

    /// The number at the start of a text, and the rest of the text.
    fn read(text: &str) -> Option<(Self, &str)> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, ',' | '_' | '.');
        let (number, rest) = unsigned.split_at(unsigned.find(|c| !is_part(c)).unwrap_or(unsigned.len()));
        let (mut digits, mut decimals, mut has_point) = (0i128, 0, false);
        for c in number.chars() {
            match c.to_digit(10) {
                Some(digit) => {
                    digits = digits * 10 + i128::from(digit);
                    decimals += u32::from(has_point);
                    if Self::DIGITS_END <= digits || Self::MAX_DECIMALS < decimals {
                        return None;
                    }
                }
                None if c == '.' && has_point => return None,
                None => has_point |= c == '.',
            }
        }
        let has_digit = number.contains(|c: char| c.is_ascii_digit());
        let is_negative = unsigned.len() < text.len();
        has_digit.then_some((Self { is_negative, digits, decimals }, rest))
    }
}

/// A number with its unit.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    number: Number,
    /// The unit, if it was written.
    pub unit: Option<&'static Unit>,
}

impl Quantity {
    /// Read a number with one of some units after it, or none. `None` if the text is anything else.
    pub fn read(text: &str, units: &'static [Unit]) -> Option<Self> {
        let (number, rest) = Number::read(text.trim())?;
        let name = rest.trim_start();
        let unit = if name.is_empty() { None } else { Some(unit_named(name, units)?) };
        Some(Self { number, unit })
    }

    /// True if it is written without decimals, and so means exactly its value.
    pub fn is_whole(self) -> bool {
        self.number.decimals == 0
    }

    /// The largest whole number, in the smallest unit of the kind, that is not above the quantity.
    pub fn floor(self, unit: &Unit) -> i128 {
        floor(self.fraction(unit))
    }

    /// The smallest whole number, in the smallest unit of the kind, that is not below the quantity.
    pub fn ceil(self, unit: &Unit) -> i128 {
        ceil(self.fraction(unit))
    }

    /// The nearest whole number in the smallest unit of the kind; halves are rounded up.
    fn rounded(self, unit: &Unit) -> i128 {
        let (n, d) = self.fraction(unit);
        floor((2 * n + d, 2 * d))
    }

    /// The first and the last whole number that read like this quantity when rounded to its decimals.
    pub fn reading_so(self, unit: &Unit) -> (i128, i128) {
        let (n, d) = self.fraction(unit);
        let half = i128::from(unit.size);
        (ceil((2 * n - half, 2 * d)), ceil((2 * n + half, 2 * d)) - 1)
    }

    /// Numerator and denominator of the exact value.
    fn fraction(self, unit: &Unit) -> (i128, i128) {
        let Number { is_negative, digits, decimals } = self.number;
        let n = digits * i128::from(unit.size);
        (if is_negative { -n } else { n }, 10i128.pow(decimals))
    }
}

fn floor((n, d): (i128, i128)) -> i128 {
    n.div_euclid(d)
}

fn ceil((n, d): (i128, i128)) -> i128 {
    -(-n).div_euclid(d)
}

#[cfg(test)]
#[path = "quantity_tests.rs"]
mod tests;
