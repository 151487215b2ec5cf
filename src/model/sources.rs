//! Source files that came with a recording.

use super::{Frame, StrId, StringTable};
use std::borrow::Cow;

/// Texts of files by their paths, which are those of frames.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Sources {
    /// Path and text, by path.
    files: Vec<(StrId, StrId)>,
}

impl Sources {
    /// The texts of these files. Of two with one path, the last counts, as in a dict.
    pub fn new(mut files: Vec<(StrId, StrId)>) -> Self {
        files.reverse();
        files.sort_by_key(|&(path, _)| path);
        files.dedup_by_key(|&mut (path, _)| path);
        Self { files }
    }

    /// Path and text of every file.
    pub fn files(&self) -> &[(StrId, StrId)] {
        &self.files
    }

    /// The line of code that a frame is at, without the space around it. `None` if its file did not come with the recording.
    pub fn line<'s>(&self, strings: &'s StringTable, frame: Frame) -> Option<Cow<'s, str>> {
        let at = self.files.binary_search_by_key(&frame.file, |&(path, _)| path).ok()?;
        let line = usize::try_from(frame.line.checked_sub(1)?).ok()?;
        let text = strings.bytes(self.files[at].1).split(|&byte| byte == b'\n').nth(line)?;
        Some(String::from_utf8_lossy(text.trim_ascii()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_finds_its_line() {
        let mut strings = StringTable::default();
        let mut text = |text: &str| strings.intern(text.as_bytes()).0;
        let [a, b, old, new] = ["a.py", "b.py", "x", "def f():\n    return 1\n"].map(&mut text);
        let sources = Sources::new(vec![(a, old), (a, new)]);
        let frame = |file, line| Frame { file, line, name: a, fx: None };
        assert_eq!(sources.line(&strings, frame(a, 2)).as_deref(), Some("return 1"));
        assert_eq!(sources.line(&strings, frame(a, 0)), None);
        assert_eq!(sources.line(&strings, frame(a, 9)), None);
        assert_eq!(sources.line(&strings, frame(b, 1)), None);
    }
}
