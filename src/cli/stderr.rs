//! Lines on standard error.

use crate::units;
use std::io::{self, Write as _};

/// Say in one line what went wrong, and below it what to try.
pub(super) fn error(message: &str, hint: &str) {
    let text = format!("oomscope: {}\n  hint: {hint}\n", units::printable(message));
    // Nobody is left to tell if this fails.
    io::stderr().lock().write_all(text.as_bytes()).ok();
}

/// Say something in one line that is no failure.
pub(super) fn notice(message: &str) {
    let text = format!("oomscope: {}\n", units::printable(message));
    io::stderr().lock().write_all(text.as_bytes()).ok();
}
