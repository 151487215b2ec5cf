//! The command that opens a file at a place.

use super::place::Place;

/// The command, quoted for the system's shell: `oomscope '/runs/a b.pickle' --go 'event=2528'`.
pub fn command_line(file: &str, place: &Place) -> String {
    // A file whose name looks like an option is still a file.
    let file = if file.starts_with('-') { format!("./{file}") } else { file.to_owned() };
    format!("oomscope {} --go {}", shell_quoted(&file), shell_quoted(&place.to_string()))
}

/// A word for the shell: POSIX has nothing special between single quotes but themselves; Windows knows double quotes
/// alone.
fn shell_quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if cfg!(windows) {
        return format!("\"{}\"", word.replace('"', "\\\""));
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
