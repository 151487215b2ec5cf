//! Shares of a whole.

/// The share that `part` is of `whole`, from 0 to 1; 0 if the whole is nothing.
pub(super) fn share(part: i64, whole: i64) -> f64 {
    if whole <= 0 { 0.0 } else { part as f64 / whole as f64 }
}
