//! Where text goes.

use crate::units;
use std::io::{self, BufWriter, Write as _};

/// Standard output, buffered. Flush it: a failed write must become an exit code.
pub(super) fn stdout() -> BufWriter<io::StdoutLock<'static>> {
    BufWriter::new(io::stdout().lock())
}

/// One line on standard error, and what to try below it.
pub(super) fn error(message: &str, hint: &str) {
    let mut stderr = io::stderr().lock();
    let text = format!("oomscope: {}\n  hint: {hint}\n", units::printable(message));
    // Nobody is left to tell if this fails.
    stderr.write_all(text.as_bytes()).ok();
}

/// One line on standard error that is no failure.
pub(super) fn notice(message: &str) {
    let text = format!("oomscope: {}\n", units::printable(message));
    io::stderr().lock().write_all(text.as_bytes()).ok();
}
