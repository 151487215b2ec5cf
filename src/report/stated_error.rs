//! The error of a prediction, in words.

/// A share as `±7 %`, rounded up to whole percent.
pub(super) fn stated_error(share: f64) -> String {
    // A share such as 0.07 is a little more than it says, and no percent more for that.
    let percent = (share * 1e4).round() / 1e2;
    format!("±{:.0} %", percent.ceil())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_rounded_up_to_whole_percent() {
        assert_eq!([0.07, 0.071, 0.02, 0.01 + 0.06].map(stated_error), ["±7 %", "±8 %", "±2 %", "±7 %"]);
    }
}
