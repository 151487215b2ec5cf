//! Files that are read whole because they are small: rules, messages, baselines. What may never end is refused.

use super::utf8::Utf8;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Most bytes of a rules file that are read: people write rules by hand.
pub const MAX_RULES_BYTES: u64 = 1 << 20;

/// Places of what the process has open already, such as the pipes that a shell makes of `<(…)`.
const OPEN_ALREADY: [&str; 3] = ["/dev/fd/", "/dev/stdin", "/proc/self/fd/"];

/// Open a file. Devices never end and a named pipe may never begin, so they are refused; what a shell puts in the place of
/// `<(…)` is not.
///
/// # Errors
/// When it cannot be opened, or is no file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let is_open_already = OPEN_ALREADY.iter().any(|place| path.to_string_lossy().starts_with(place));
    let metadata = std::fs::metadata(path)?;
    if metadata.is_file() || is_open_already {
        return File::open(path);
    }
    let what =
        if metadata.is_dir() { "it is a directory" } else { "it is a device or a pipe, which may never end" };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// The text of a file of at most `max_bytes`.
///
/// # Errors
/// As [`open_regular`], and when it is longer or no text.
pub fn read_small(path: &Path, max_bytes: u64) -> io::Result<String> {
    text_of(open_regular(path)?, max_bytes)
}

/// The rest of an input of at most `max_bytes`.
///
/// # Errors
/// When it is longer or no text.
pub fn text_of(input: impl io::Read, max_bytes: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    Utf8::new(input).take(max_bytes + 1).read_to_end(&mut bytes)?;
    if max_bytes < bytes.len() as u64 {
        let message = format!("it is larger than {} MiB", max_bytes >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    String::from_utf8(bytes)
        .map_err(|_utf8| io::Error::new(io::ErrorKind::InvalidData, "it is no UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_never_end_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("rules.toml");
        assert_eq!(read_small(&path, 4).expect_err("there is none").kind(), io::ErrorKind::NotFound);
        std::fs::write(&path, "1234").expect("a temporary file");
        assert_eq!(read_small(&path, 4).expect("it fits"), "1234");
        assert_eq!(read_small(&path, 3).expect_err("too long").kind(), io::ErrorKind::FileTooLarge);
        assert!(read_small(folder.path(), 4).expect_err("a folder").to_string().contains("directory"));
        assert!(text_of(io::repeat(b'x'), 2 << 20).expect_err("endless").to_string().contains("2 MiB"));
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_refused() {
        let error = read_small(Path::new("/dev/zero"), 4).expect_err("a device");
        assert!(error.to_string().contains("may never end"), "{error}");
    }
}
