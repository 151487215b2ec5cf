//! Lines of a traceback, as Python's `traceback` module writes them and torch records them.

/// A line that names a frame: `File "model.py", line 30, in forward`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracebackLine<'t> {
    /// The source file.
    pub file: &'t [u8],
    /// The line.
    pub line: i64,
    /// The function; empty if the text does not name it.
    pub function: &'t [u8],
}

/// The frames that a text names, outermost first. Lines of code, and marks below them, are left out.
pub fn traceback_lines(text: &[u8]) -> impl Iterator<Item = TracebackLine<'_>> {
    text.split(|&byte| byte == b'\n').filter_map(line)
}

/// What a line says of a frame. Code is indented further than the lines that name frames.
fn line(text: &[u8]) -> Option<TracebackLine<'_>> {
    const MIDDLE: &[u8] = b"\", line ";
    let text = text.strip_prefix(b"  ").unwrap_or(text).strip_prefix(b"File \"")?;
    let middle = memchr::memmem::find(text, MIDDLE)?;
    let (file, rest) = (&text[..middle], &text[middle + MIDDLE.len()..]);
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let line = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    let function = rest[digits..].strip_prefix(b", in ").unwrap_or_default();
    Some(TracebackLine { file, line, function: function.trim_ascii_end() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_told_from_code() {
        let text = "Gradient addition node due to multiple use of tensor around:\n  File \"/me/a b.py\", line 44, in forward\n    x = b(x)\n        ^^^^\n  File \"m.py\", line 9, in Net.<lambda>\n    File \"no.py\", line 1, in code\nFile \"<stdin>\", line 3\nFile \"x\", line 99999999999999999999, in f\nFile \"y\", in f\n";
        let found: Vec<(&[u8], i64, &[u8])> =
            traceback_lines(text.as_bytes()).map(|at| (at.file, at.line, at.function)).collect();
        let expected: [(&[u8], i64, &[u8]); 3] =
            [(b"/me/a b.py", 44, b"forward"), (b"m.py", 9, b"Net.<lambda>"), (b"<stdin>", 3, b"")];
        assert_eq!(found, expected);
    }
}
