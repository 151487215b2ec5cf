//! Numbers in the formats that pickles use.

use super::Value;

/// A little-endian two's-complement integer of any length (LONG1, LONG4).
#[inline]
pub(super) fn little_endian(bytes: &[u8]) -> Value {
    let Some(&last) = bytes.last() else { return Value::int(0) };
    let negative = last & 0x80 != 0;
    let fill = if negative { 0xff } else { 0 };
    // Bytes beyond the eighth must only repeat the sign.
    if bytes.len() > 8 && bytes[8..].iter().any(|&b| b != fill) {
        return Value::BIG_INT;
    }
    let mut word = [fill; 8];
    let n = bytes.len().min(8);
    word[..n].copy_from_slice(&bytes[..n]);
    from_word(u64::from_le_bytes(word), negative)
}

/// A little-endian two's-complement integer in the first `len` bytes of `word`, 1 to 8.
#[inline]
pub(super) fn short_little_endian(word: [u8; 8], len: u8) -> i64 {
    let unused_bits = 64 - 8 * u32::from(len);
    i64::from_le_bytes(word) << unused_bits >> unused_bits
}

/// A 64-bit word whose sign is known from further bytes.
fn from_word(word: u64, negative: bool) -> Value {
    match (i64::from_ne_bytes(word.to_ne_bytes()), negative) {
        (signed, true) if signed < 0 => Value::int(signed),
        (_, true) => Value::BIG_INT,
        (signed, false) if signed >= 0 => Value::int(signed),
        (_, false) => Value::uint(word),
    }
}

/// A decimal integer (INT, LONG); `00` and `01` are how protocol 0 writes bools.
pub(super) fn decimal(text: &[u8]) -> Option<Value> {
    match text {
        b"00" => return Some(Value::bool(false)),
        b"01" => return Some(Value::bool(true)),
        _ => {}
    }
    let text = std::str::from_utf8(text).ok()?.trim_end_matches('L');
    if let Ok(value) = text.parse::<i64>() {
        return Some(Value::int(value));
    }
    if let Ok(value) = text.parse::<u64>() {
        return Some(Value::uint(value));
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(Value::BIG_INT)
}

/// A float's repr (FLOAT).
pub(super) fn float(text: &[u8]) -> Option<Value> {
    std::str::from_utf8(text).ok()?.parse().ok().map(Value::float)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_integers_of_every_length() {
        assert_eq!(little_endian(&[]), Value::int(0));
        assert_eq!(little_endian(&[0xff]), Value::int(-1));
        assert_eq!(little_endian(&[0, 0, 0, 0, 0, 0, 0, 0x80]), Value::int(i64::MIN));
        assert_eq!(little_endian(&[0, 0, 0, 0, 0, 0, 0, 0x80, 0]), Value::uint(1 << 63));
        assert_eq!(
            little_endian(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0]),
            Value::uint(u64::MAX)
        );
        assert_eq!(little_endian(&[0, 0, 0, 0, 0, 0, 0, 0, 1]), Value::BIG_INT);
        assert_eq!(little_endian(&[0, 0, 0, 0, 0, 0, 0, 0, 0xff]), Value::BIG_INT);
        assert_eq!(little_endian(&[5, 0, 0, 0, 0, 0, 0, 0, 0, 0]), Value::int(5));
    }

    #[test]
    fn short_integers_ignore_what_follows() {
        assert_eq!(short_little_endian([0xff, 7, 7, 7, 7, 7, 7, 7], 1), -1);
        assert_eq!(short_little_endian([1, 2, 3, 9, 9, 9, 9, 9], 3), 0x03_02_01);
        assert_eq!(short_little_endian([0, 0, 0, 0, 0, 0, 0, 0x80], 8), i64::MIN);
    }

    #[test]
    fn decimal_integers() {
        assert_eq!(decimal(b"01"), Some(Value::bool(true)));
        assert_eq!(decimal(b"-7L"), Some(Value::int(-7)));
        assert_eq!(decimal(b"18446744073709551615L"), Some(Value::uint(u64::MAX)));
        assert_eq!(decimal(b"18446744073709551616L"), Some(Value::BIG_INT));
        assert_eq!(decimal(b"1e5"), None);
        assert_eq!(decimal(b""), None);
    }
}
