//! The texts of the window, in one place for those who translate them.
//!
//! Texts stand in the code where they are shown, marked by one of two macros:
//!
//! - `tr!("Open…")` is the text in the language of the window. It takes arguments as `format!` does, without format
//!   specifications, and a count: `tr!("{} block" | "{} blocks" % n, n)`. Where one English text means two things, a context tells
//!   them apart: `tr!("verb" => "Open")`.
//! - `marked!("Open…")` is the English text itself, for constants and tables. [`translated`] is what is shown of it.
//!
//! `assets/texts/oomscope.pot` lists all of them; a test keeps it complete. Not marked are names that the program stores or looks
//! up, messages of the log, code, units and figures, and what other packages say: reports are in English.

use oomscope_units as units;
use tr::tr;

/// Marks a text that [`translated`] gets: it is the text itself.
macro_rules! marked {
    ($text:literal) => {
        $text
    };
}
pub(crate) use marked;

/// A marked text in the language of the window. What is empty stays so: an empty text names the head of a catalog.
pub(crate) fn translated(text: &str) -> String {
    if text.is_empty() { String::new() } else { tr!(text) }
}

/// A number of blocks.
pub(crate) fn blocks(n: usize) -> String {
    tr!("{} block" | "{} blocks" % n, units::count(n as u64))
}

/// A number of events.
pub(crate) fn events(n: usize) -> String {
    tr!("{} event" | "{} events" % n, units::count(n as u64))
}

/// A number of allocations.
pub(crate) fn allocations(n: usize) -> String {
    tr!("{} allocation" | "{} allocations" % n, units::count(n as u64))
}

/// An amount of memory, and the number of blocks that it is in.
pub(crate) fn in_blocks(size: &str, n: usize) -> String {
    tr!("{size} in {count} block" | "{size} in {count} blocks" % n, size, count = units::count(n as u64))
}

/// What a flame graph says of frames that share a pixel.
pub(crate) fn thin_frames(n: usize) -> String {
    tr!("{} frame thinner than a pixel" | "{} frames thinner than a pixel" % n, units::count(n as u64))
}
