//! Numbers and names as text, written and read alike in every view, report and picture.
//!
//! This package knows nothing of the others.
//!
//! ```
//! assert_eq!(oomscope_units::bytes(2_824_000_000_i64), "2.63 GiB");
//! assert_eq!(oomscope_units::parse_bytes("2.5GiB"), Some(2_684_354_560));
//! ```

mod nearest;
pub mod quantity;
mod quotes;
mod text;
mod without_names;

pub use nearest::{did_you_mean, nearest};
pub use quantity::parse_bytes;
pub use quotes::{quoted, unquoted};
pub use text::{
    is_shown_whole, is_unprintable, printable, printable_bytes, printable_lines, printable_whole,
};
pub use without_names::without_names;

/// The text with a capital letter at its start.
pub fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

/// A size in bytes with a binary unit and at least three significant digits: `2.63 GiB`, `1004 MiB`, `512 B`.
pub fn bytes(size: impl Into<i64>) -> String {
    let size = size.into();
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let sign = if size < 0 { "-" } else { "" };
    let magnitude = size.unsigned_abs();
    let mut unit = 0;
    let mut value = magnitude as f64;
    while 1023.5 <= value && unit + 1 < UNITS.len() && 1024 <= magnitude {
        value /= 1024.0;
        unit += 1;
    }
    match (unit, value) {
        (0, _) => format!("{sign}{magnitude} B"),
        (_, v) if v < 9.995 => format!("{sign}{v:.2} {}", UNITS[unit]),
        (_, v) if v < 99.95 => format!("{sign}{v:.1} {}", UNITS[unit]),
        (_, v) => format!("{sign}{v:.0} {}", UNITS[unit]),
    }
}

/// A size in bytes on an axis with marks every `step` bytes up to `most`, with enough digits that neighbours differ. All sizes of an
/// axis have one unit, and zero has none.
pub fn bytes_on_axis(size: impl Into<i64>, step: impl Into<i64>, most: impl Into<i64>) -> String {
    let (size, step, most) = (size.into(), step.into(), most.into());
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if size == 0 {
        return "0".to_owned();
    }
    let unit_of = |bytes: i64| bytes.unsigned_abs().max(1).ilog2() / 10;
    let (of_most, of_step) = (unit_of(most), unit_of(step));
    let halvings = (10 * of_most).saturating_sub(step.max(1).ilog2());
    // Powers of two are exact with as many decimals as halvings; else whole numbers of the step's
    // unit, unless they get too long.
    let is_short = most.unsigned_abs() >> (10 * of_step) < 100_000;
    let (unit, decimals) = match (halvings, is_short) {
        (0..=2, _) => (of_most, halvings),
        (_, true) => (of_step, 0),
        (_, false) => (of_most, (f64::from(halvings) * std::f64::consts::LOG10_2).ceil() as u32),
    };
    let (unit, decimals) = (unit as usize, decimals as usize);
    format!("{:.decimals$} {}", size as f64 / (1u64 << (10 * unit)) as f64, UNITS[unit])
}

/// A size that is a round number of a unit, without decimals: `512 KiB`.
pub fn bytes_short(size: impl Into<i64>) -> String {
    let size = size.into();
    if size == 0 {
        return "0 B".to_owned();
    }
    bytes_on_axis(size, 1i64 << (10 * (size.unsigned_abs().max(1).ilog2() / 10)), size)
}

/// Bytes multiplied by time, given in byte-microseconds: `1.25 GiB·s`.
pub fn byte_seconds(byte_us: i128) -> String {
    const SECOND_US: i128 = 1_000_000;
    match byte_us {
        0 => "0 B·s".to_owned(),
        ..SECOND_US if -SECOND_US < byte_us => "below 1 B·s".to_owned(),
        _ => format!("{}·s", bytes(clamped(byte_us / SECOND_US))),
    }
}

/// Bytes multiplied by events: `1.25 GiB·events`.
pub fn byte_events(byte_events: i128) -> String {
    format!("{}·events", bytes(clamped(byte_events)))
}

/// The nearest number that fits into 64 bits.
fn clamped(n: i128) -> i64 {
    n.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

/// A change in bytes with its sign: `+1.20 GiB`, `-512 B`, and `0 B` where there is none.
pub fn bytes_change(by: impl Into<i128>) -> String {
    let by = by.into();
    let text = bytes(clamped(by));
    if 0 < by { format!("+{text}") } else { text }
}

/// A number with a noun, whose plural is formed with `s`: `1 block`, `1,234 blocks`.
pub fn counted(n: usize, one: &str) -> String {
    format!("{} {one}{}", count(n as u64), if n == 1 { "" } else { "s" })
}

/// A number with thousands separated: `41,220`.
pub fn count(n: impl Into<i128>) -> String {
    let n = n.into();
    let digits = n.unsigned_abs().to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3 + 1);
    if n < 0 {
        out.push('-');
    }
    for (i, digit) in digits.chars().enumerate() {
        if i != 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A size with its exact bytes: `2.63 GiB (2,823,946,240 bytes)`.
pub fn bytes_exact(size: impl Into<i64>) -> String {
    let size = size.into();
    if size.unsigned_abs() < 1000 { bytes(size) } else { format!("{} ({} bytes)", bytes(size), count(size)) }
}

/// A date and time, from microseconds since 1970: `2023-11-14 22:13:20.000123 UTC`.
pub fn date_time_us(us: i64) -> String {
    let (days, of_day) = (us.div_euclid(86_400_000_000), us.rem_euclid(86_400_000_000));
    let (year, month, day) = civil_date(days);
    let (seconds, micros) = (of_day / 1_000_000, of_day % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06} UTC")
}

/// Year, month and day of a number of days since 1970-01-01, by whole cycles of the Gregorian calendar.
/// Years are counted from 1 March, so that a leap day is the last of its year.
fn civil_date(days: i64) -> (i64, i64, i64) {
    const DAYS_PER_CYCLE: i64 = 400 * 365 + 97;
    const MARCH_OF_YEAR_0: i64 = -719_468;
    let days = days - MARCH_OF_YEAR_0;
    let (cycle, day) = (days.div_euclid(DAYS_PER_CYCLE), days.rem_euclid(DAYS_PER_CYCLE));
    let leaps = day / 1460 - day / 36_524 + day / (DAYS_PER_CYCLE - 1);
    let year = (day - leaps) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Months from March have 31, 30, 31, 30, 31 days, twice, and so on.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (400 * cycle + year + carry, month, day)
}

/// A duration in microseconds: `3.412 s`, `12.3 ms`, `85 µs`.
pub fn duration_us(us: i64) -> String {
    let sign = if us < 0 { "-" } else { "" };
    let us = us.unsigned_abs();
    match us {
        0..1_000 => format!("{sign}{us} µs"),
        1_000..1_000_000 => format!("{sign}{:.1} ms", us as f64 / 1e3),
        1_000_000..600_000_000 => format!("{sign}{:.3} s", us as f64 / 1e6),
        _ => {
            let seconds = us / 1_000_000;
            let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
            format!("{sign}{hours}:{minutes:02}:{seconds:02}")
        }
    }
}

/// A time on an axis with marks every `step_us`, with enough digits that neighbours differ.
pub fn time_at_step(us: i64, step_us: i64) -> String {
    if us == 0 {
        return "0 s".to_owned();
    }
    let (unit_us, unit) = match us.unsigned_abs() {
        0..1_000 => (1, "µs"),
        1_000..1_000_000 => (1_000, "ms"),
        1_000_000..600_000_000 => (1_000_000, "s"),
        _ => return duration_us(us),
    };
    let decimals = (f64::from(unit_us) / step_us.max(1) as f64).log10().ceil().max(0.0) as usize;
    format!("{:.decimals$} {unit}", us as f64 / f64::from(unit_us))
}

/// A time to the microsecond, so that neighbouring events differ: `4.213794 s`, `1:02:05.000123`.
pub fn time_exact_us(us: i64) -> String {
    let magnitude = us.unsigned_abs();
    match magnitude {
        0..600_000_000 => time_at_step(us, 1),
        _ => format!("{}.{:06}", duration_us(us), magnitude % 1_000_000),
    }
}

/// A share of a whole in percent: `12.3 %`.
pub fn percent(part: impl Into<i64>, whole: impl Into<i64>) -> String {
    let (part, whole) = (part.into(), whole.into());
    if whole == 0 { "0 %".to_owned() } else { format!("{:.1} %", part as f64 / whole as f64 * 100.0) }
}

/// An address: `0x7f21ac000000`.
pub fn address(addr: u64) -> String {
    format!("{addr:#x}")
}

/// The last part of a path of any system.
pub fn basename(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_significant_digits() {
        let shown: Vec<String> =
            [0_i64, 999, 1023, 1024, 1536, 10_250, 1_048_575, 1 << 20, 2_823_946_240, -5 << 30]
                .map(bytes)
                .into();
        assert_eq!(
            shown,
            [
                "0 B",
                "999 B",
                "1023 B",
                "1.00 KiB",
                "1.50 KiB",
                "10.0 KiB",
                "1.00 MiB",
                "1.00 MiB",
                "2.63 GiB",
                "-5.00 GiB"
            ]
        );
        assert_eq!(bytes(1004 << 20), "1004 MiB");
        assert_eq!(bytes_exact(1536), "1.50 KiB (1,536 bytes)");
        assert_eq!(bytes(i64::MIN), "-8.00 EiB");
    }

    #[test]
    fn bytes_over_time_have_a_unit_of_both() {
        assert_eq!(byte_seconds(5 * (1 << 30) * 250_000), "1.25 GiB·s");
        assert_eq!(byte_seconds(999_999), "below 1 B·s");
        assert_eq!(byte_seconds(0), "0 B·s");
        assert_eq!(byte_seconds(-2_000_000), "-2 B·s");
        assert_eq!(byte_events(3 << 20), "3.00 MiB·events");
        assert_eq!(byte_events(i128::MAX), "8.00 EiB·events");
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1234567), "1,234,567");
        assert_eq!(count(-123), "-123");
    }

    #[test]
    fn durations_use_a_fitting_unit() {
        assert_eq!(duration_us(85), "85 µs");
        assert_eq!(duration_us(12_345), "12.3 ms");
        assert_eq!(duration_us(3_412_000), "3.412 s");
        assert_eq!(duration_us(3_725_000_000), "1:02:05");
    }

    #[test]
    fn exact_times_tell_microseconds_apart() {
        let shown = [0, 7, 4_213_794, 599_999_999, 3_725_000_123, -600_000_001].map(time_exact_us);
        assert_eq!(shown, ["0 s", "7 µs", "4.213794 s", "599.999999 s", "1:02:05.000123", "-0:10:00.000001"]);
    }

    #[test]
    fn dates_follow_the_calendar() {
        assert_eq!(date_time_us(1_700_000_000_000_123), "2023-11-14 22:13:20.000123 UTC");
        assert_eq!(date_time_us(-1), "1969-12-31 23:59:59.999999 UTC");
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..200_000 {
            assert_eq!(civil_date(days), (year, month, day));
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let last = [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            day += 1;
            if last[month as usize - 1] < day {
                (day, month) = (1, month + 1);
            }
            if 12 < month {
                (month, year) = (1, year + 1);
            }
        }
        assert!(date_time_us(i64::MIN).ends_with("UTC") && date_time_us(i64::MAX).ends_with("UTC"));
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("a\x1b[31mb\nc\u{202e}"), "a\u{fffd}[31mb\u{fffd}c\u{fffd}");
        assert_eq!(basename(r"C:\train\model.py"), "model.py");
    }
}
