//! Lines on standard error.

use oomscope_units as units;
use std::io::{self, Write as _};

/// Write an error in one line, and a hint below it.
pub(super) fn error(message: &str, hint: &str) {
    let text = format!("oomscope: {}\n  hint: {hint}\n", units::printable(message));
    // If this fails, there is nowhere left to report it.
    io::stderr().lock().write_all(text.as_bytes()).ok();
}

/// Write a notice in one line.
pub(super) fn notice(message: &str) {
    let text = format!("oomscope: {}\n", units::printable(message));
    io::stderr().lock().write_all(text.as_bytes()).ok();
}
