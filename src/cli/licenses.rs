//! `oomscope licenses`.

use super::failure::Failure;
use super::output;
use oomscope_draw::fonts::LICENCES as FONTS;
use std::io::Write as _;

/// Licences of the program, its fonts and the packages that it is built from. `about.hbs` says how the last
/// file is made, and `.ci/release` checks that it is current.
const NOTICES: [(&str, &str); 5] = [
    ("oomscope, under either of two licences: MIT", include_str!("../../LICENSE-MIT")),
    ("oomscope, under either of two licences: Apache-2.0", include_str!("../../LICENSE-APACHE")),
    FONTS[0],
    FONTS[1],
    ("Packages", include_str!("../../assets/third-party.txt")),
];

pub(super) fn run() -> Result<(), Failure> {
    let mut out = output::stdout();
    for (title, text) in NOTICES {
        writeln!(out, "{title}\n\n{}\n", text.trim())?;
    }
    Ok(out.flush()?)
}
