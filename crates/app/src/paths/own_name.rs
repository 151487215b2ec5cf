//! Names of files in the settings folder that are about another file.

use std::path::Path;

/// Characters of the other file's name that it begins with, so that people recognise it.
const MAX_NAME_CHARS: usize = 60;

/// A name that differs for every path.
pub(crate) fn own_name(path: &Path) -> String {
    // FNV-1a, which is the same in every version of the program.
    let hash = path.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || "._-".contains(*c);
    let name: String = name.chars().filter(is_plain).take(MAX_NAME_CHARS).collect();
    format!("{name}-{hash:016x}")
}
