//! Source files that came with a recording.

use super::{Frame, MAX_MEANT_BYTES, StrId, StringTable};
use foldhash::HashMap;
use std::borrow::Cow;

/// Bytes after which lines are counted, so that one is found without reading all of a text.
const PART_BYTES: usize = 64 << 10;

/// Texts of files by their paths, which are those of frames.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Sources {
    /// Path and text, by path.
    files: Vec<(StrId, StrId)>,
    /// By text, how many lines end before each part of [`PART_BYTES`].
    lines_before: HashMap<StrId, Vec<usize>>,
}

impl Sources {
    /// The texts of these files. Of two with one path, the last counts, as in a dict.
    pub fn new(mut files: Vec<(StrId, StrId)>, strings: &StringTable) -> Self {
        files.reverse();
        files.sort_by_key(|&(path, _)| path);
        files.dedup_by_key(|&mut (path, _)| path);
        let mut lines_before = HashMap::default();
        for &(_, text) in &files {
            lines_before.entry(text).or_insert_with(|| lines_before_parts(strings.whole_bytes(text)));
        }
        Self { files, lines_before }
    }

    /// Path and text of every file.
    pub fn files(&self) -> &[(StrId, StrId)] {
        &self.files
    }

    /// The line of code that a frame is at, without the space around it; of a longer one the first 8 KiB. `None` if its file
    /// did not come with the recording.
    pub fn line<'s>(&self, strings: &'s StringTable, frame: Frame) -> Option<Cow<'s, str>> {
        let at = self.files.binary_search_by_key(&frame.file, |&(path, _)| path).ok()?;
        let line = usize::try_from(frame.line.checked_sub(1)?).ok()?;
        let text = self.files[at].1;
        let before = self.lines_before.get(&text)?;
        // The last part before which fewer lines end: the line begins in it.
        let part = before.partition_point(|&ended| ended < line).saturating_sub(1);
        let mut rest = strings.whole_bytes(text).get(part * PART_BYTES..)?;
        for _ in before.get(part).copied().unwrap_or(0)..line {
            rest = &rest[memchr::memchr(b'\n', rest)? + 1..];
        }
        let rest = &rest[..rest.len().min(MAX_MEANT_BYTES)];
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        Some(String::from_utf8_lossy(rest[..end].trim_ascii()))
    }
}

fn lines_before_parts(text: &[u8]) -> Vec<usize> {
    let parts = text.chunks(PART_BYTES).scan(0, |ended, part| {
        let before = *ended;
        *ended += memchr::memchr_iter(b'\n', part).count();
        Some(before)
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_finds_its_line() {
        let mut strings = StringTable::default();
        let mut text = |text: &str| strings.intern(text.as_bytes()).0;
        let [a, b, old, new] = ["a.py", "b.py", "x", "def f():\n    return 1\n"].map(&mut text);
        let sources = Sources::new(vec![(a, old), (a, new)], &strings);
        let frame = |file, line| Frame { file, line, name: a, fx: None };
        assert_eq!(sources.line(&strings, frame(a, 2)).as_deref(), Some("return 1"));
        assert_eq!(sources.line(&strings, frame(a, 0)), None);
        assert_eq!(sources.line(&strings, frame(a, 9)), None);
        assert_eq!(sources.line(&strings, frame(b, 1)), None);
    }

    #[test]
    fn every_line_of_a_long_file_is_found() {
        let code: Vec<String> = (0..40_000).map(|line| "x".repeat(line % 50) + &line.to_string()).collect();
        let mut strings = StringTable::default();
        let [path, text] = ["a.py", &code.join("\n")].map(|text| strings.intern(text.as_bytes()).0);
        let sources = Sources::new(vec![(path, text)], &strings);
        let line = |line| sources.line(&strings, Frame { file: path, line, name: path, fx: None });
        for (at, code) in (1..).zip(&code) {
            assert_eq!(line(at).as_deref(), Some(code.as_str()));
        }
        assert_eq!(line(40_001), None);
    }
}
