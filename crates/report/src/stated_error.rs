//! The error of a prediction, in words.

use oomscope_model::Bytes;
use oomscope_units as units;

/// A share as `±7 %`, rounded up to whole percent.
pub(super) fn stated_error(share: f64) -> String {
    // A share such as 0.07 is a little more than it says, and no percent more for that.
    let percent = (share * 1e4).round() / 1e2;
    format!("±{:.0} %", percent.ceil())
}

/// What is left of a capacity, in words: `with 62.0 MiB to spare, less than it may be off`.
pub fn to_spare(margin_bytes: Bytes, of_bytes: u64, error: Option<f64>) -> String {
    let is_less = margin_bytes.as_f64() <= of_bytes as f64 * error.unwrap_or(0.0);
    let less = if is_less { ", less than it may be off" } else { "" };
    format!("with {} to spare{less}", units::bytes(margin_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_set_against_the_error() {
        let [mib, gib] = [Bytes(1 << 20), Bytes(1 << 30)];
        assert_eq!(to_spare(gib, 4 << 30, Some(0.07)), "with 1.00 GiB to spare");
        assert_eq!(
            to_spare(62 * mib, 4 << 30, Some(0.07)),
            "with 62.0 MiB to spare, less than it may be off"
        );
        assert_eq!(to_spare(62 * mib, 4 << 30, None), "with 62.0 MiB to spare");
    }

    #[test]
    fn errors_are_rounded_up_to_whole_percent() {
        assert_eq!([0.07, 0.071, 0.02, 0.01 + 0.06].map(stated_error), ["±7 %", "±8 %", "±2 %", "±7 %"]);
    }
}
