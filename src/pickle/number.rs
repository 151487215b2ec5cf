//! Numbers in the formats that pickles use.

use super::Value;

/// A little-endian two's-complement integer of any length (LONG1, LONG4).
#[inline]
pub(super) fn little_endian(bytes: &[u8]) -> Value {
    let Some(&last) = bytes.last() else { return Value::Int(0) };
    let negative = last & 0x80 != 0;
    let fill = if negative { 0xff } else { 0 };
    // Bytes beyond the eighth must only repeat the sign.
    if bytes.len() > 8 && bytes[8..].iter().any(|&b| b != fill) {
        return Value::BigInt;
    }
    let mut word = [fill; 8];
    let n = bytes.len().min(8);
    word[..n].copy_from_slice(&bytes[..n]);
    from_word(u64::from_le_bytes(word), negative)
}

/// A 64-bit word whose sign is known from further bytes.
fn from_word(word: u64, negative: bool) -> Value {
    match (i64::from_ne_bytes(word.to_ne_bytes()), negative) {
        (signed, true) if signed < 0 => Value::Int(signed),
        (_, true) => Value::BigInt,
        (signed, false) if signed >= 0 => Value::Int(signed),
        (_, false) => Value::Uint(word),
    }
}

/// A decimal integer (INT, LONG); `00` and `01` are how protocol 0 writes bools.
pub(super) fn decimal(text: &[u8]) -> Option<Value> {
    match text {
        b"00" => return Some(Value::Bool(false)),
        b"01" => return Some(Value::Bool(true)),
        _ => {}
    }
    let text = std::str::from_utf8(text).ok()?.trim_end_matches('L');
    if let Ok(value) = text.parse::<i64>() {
        return Some(Value::Int(value));
    }
    if let Ok(value) = text.parse::<u64>() {
        return Some(Value::Uint(value));
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(Value::BigInt)
}

/// A float's repr (FLOAT).
pub(super) fn float(text: &[u8]) -> Option<Value> {
    std::str::from_utf8(text).ok()?.parse().ok().map(Value::Float)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_integers_of_every_length() {
        assert_eq!(little_endian(&[]), Value::Int(0));
        assert_eq!(little_endian(&[0xff]), Value::Int(-1));
        assert_eq!(little_endian(&[0, 0, 0, 0, 0, 0, 0, 0x80]), Value::Int(i64::MIN));
        assert_eq!(little_endian(&[0, 0, 0, 0, 0, 0, 0, 0x80, 0]), Value::Uint(1 << 63));
        assert_eq!(little_endian(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0]), Value::Uint(u64::MAX));
        assert_eq!(little_endian(&[0, 0, 0, 0, 0, 0, 0, 0, 1]), Value::BigInt);
        assert_eq!(little_endian(&[0, 0, 0, 0, 0, 0, 0, 0, 0xff]), Value::BigInt);
        assert_eq!(little_endian(&[5, 0, 0, 0, 0, 0, 0, 0, 0, 0]), Value::Int(5));
    }

    #[test]
    fn decimal_integers() {
        assert_eq!(decimal(b"01"), Some(Value::Bool(true)));
        assert_eq!(decimal(b"-7L"), Some(Value::Int(-7)));
        assert_eq!(decimal(b"18446744073709551615L"), Some(Value::Uint(u64::MAX)));
        assert_eq!(decimal(b"18446744073709551616L"), Some(Value::BigInt));
        assert_eq!(decimal(b"1e5"), None);
        assert_eq!(decimal(b""), None);
    }
}
