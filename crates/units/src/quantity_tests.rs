//! Sizes against a naive exact reading of them.

use super::*;
use proptest::prelude::*;

#[test]
fn sizes_are_read_in_the_units_that_people_write() {
    assert_eq!(parse_bytes("80GiB"), Some(80 << 30));
    assert_eq!(parse_bytes(" 1.5 mb "), Some(3 << 19));
    assert_eq!(["1_024", "1,024"].map(parse_bytes), [Some(1024); 2]);
    assert_eq!(["", "GiB", "-3", "5 parsecs", "1e9", "9999999TB", "1.2.3"].map(parse_bytes), [None; 7]);
}

#[test]
fn every_spelling_is_read_everywhere() {
    for (text, bytes) in [
        ("2p", 2 << 50),
        ("2 PiB", 2 << 50),
        (".5k", 512),
        ("5.", 5),
        ("1,", 1),
        (",1", 1),
        ("1_0,0", 100),
        ("1.2,5 KiB", 1280),
        ("1 byte", 1),
    ] {
        assert_eq!(parse_bytes(text), Some(bytes), "{text}");
        let quantity = Quantity::read(text, SIZES).expect("a size");
        assert_eq!(quantity.floor(quantity.unit.unwrap_or(BYTE)), i128::from(bytes), "{text}");
    }
    assert_eq!(["-0", ".", ",", "_ k", "1.2.3", "1k1", "..", "1 2", "0x10"].map(parse_bytes), [None; 9]);
}

#[test]
fn sizes_are_exact_to_the_byte() {
    // With floating point, these came to 9,007,199,254,740,992 and to nothing at all.
    assert_eq!(parse_bytes("9007199254740993"), Some(9_007_199_254_740_993));
    assert_eq!(parse_bytes("9223372036854775807"), Some(i64::MAX));
    assert_eq!(parse_bytes("8191.99999999999999911PiB"), Some(i64::MAX));
    assert_eq!(["9223372036854775807.5", "8192PiB"].map(parse_bytes), [None; 2]);
    assert_eq!(["0.5", "1.4999999999999999999999"].map(parse_bytes), [Some(1); 2]);
}

/// A number as its digits, the last first, and how many of them are decimals.
struct Long {
    digits: Vec<u8>,
    decimals: usize,
}

impl Long {
    fn read(number: &str) -> Self {
        let plain = number.replace([',', '_'], "");
        let decimals = plain.split_once('.').map_or(0, |(_, behind)| behind.len());
        let digits = plain.bytes().rev().filter(|c| *c != b'.').map(|c| c - b'0').collect();
        Self { digits, decimals }
    }

    /// Twice as much; adding a number to itself, digit by digit, needs no wide arithmetic.
    fn double(&mut self) {
        let mut carry = 0;
        for digit in &mut self.digits {
            let sum = *digit * 2 + carry;
            (*digit, carry) = (sum % 10, sum / 10);
        }
        self.digits.push(carry);
    }

    /// The nearest whole number as decimal digits.
    fn rounded(&self) -> String {
        let rounds_up = self.decimals.checked_sub(1).is_some_and(|first| self.digits[first] >= 5);
        let mut whole: Vec<u8> = self.digits[self.decimals..].to_vec();
        whole.push(0);
        let mut carry = u8::from(rounds_up);
        for digit in &mut whole {
            (*digit, carry) = ((*digit + carry) % 10, (*digit + carry) / 10);
        }
        whole.iter().rev().map(|&digit| char::from(b'0' + digit)).collect()
    }
}

proptest! {
    #[test]
    fn sizes_are_those_of_long_arithmetic(
        number in "[0-9][0-9_,]{0,8}(\\.[0-9_,]{0,9})?|\\.[0-9]{1,9}",
        unit in prop::sample::select(vec![
            ("", 0), ("B", 0), (" bytes", 0), ("k", 10), ("KB", 10), (" MiB", 20), ("g", 30), ("TiB ", 40), ("pb", 50),
        ]),
    ) {
        let mut long = Long::read(&number);
        (0..unit.1).for_each(|_| long.double());
        prop_assert_eq!(parse_bytes(&format!("{number}{}", unit.0)), long.rounded().parse().ok());
    }

    #[test]
    fn no_text_is_too_odd(text in prop_oneof![any::<String>(), "[-0-9.,_ kMGpbsi]{0,40}"]) {
        let bytes = parse_bytes(&text);
        prop_assert!(bytes.is_none_or(|bytes| 0 <= bytes));
        let quantity = Quantity::read(&text, SIZES);
        prop_assert_eq!(parse_bytes(&format!("-{}", text.trim_start())), None);
        if let Some(quantity) = quantity {
            let unit = quantity.unit.unwrap_or(BYTE);
            prop_assert!(quantity.floor(unit) <= quantity.ceil(unit));
            let (first, last) = quantity.reading_so(unit);
            prop_assert!(first <= last + 1);
        }
        let _ = Quantity::read(&text, TIMES);
    }
}
