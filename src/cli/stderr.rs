//! Lines on standard error.

use super::terminal::has_color_on_stderr;
use anstyle::{AnsiColor, Style};
use oomscope_units as units;
use std::io::{self, Write as _};

/// Write an error in one line, and a hint below it.
pub(super) fn error(message: &str, hint: &str) {
    let [name, label] = [AnsiColor::Red.on_default().bold(), AnsiColor::Cyan.on_default()]
        .map(|style| if has_color_on_stderr() { style } else { Style::new() });
    let message = units::printable(message);
    let text = format!("{name}oomscope:{name:#} {message}\n  {label}hint:{label:#} {hint}\n");
    // If this fails, there is nowhere left to report it.
    io::stderr().lock().write_all(text.as_bytes()).ok();
}

/// Write a notice in one line.
pub(super) fn notice(message: &str) {
    let text = format!("oomscope: {}\n", units::printable(message));
    io::stderr().lock().write_all(text.as_bytes()).ok();
}
