//! The pages that `python -m torch.cuda._memory_viz trace_plot` and `segment_plot` write: a base64
//! pickle inside a script (`_format_viz` in `torch/cuda/_memory_viz.py`).

use super::error::ContainerError;
use base64::engine::general_purpose::STANDARD;
use base64::read::DecoderReader;
use memchr::memmem;
use std::io::{self, Cursor, Read};

/// The most bytes of a page before its pickle. torch writes a few hundred there; without a limit, any other page
/// would be read into memory as a whole.
const MAX_HEAD_BYTES: u64 = 16 << 20;

/// The JSON field that holds the pickle.
const FIELD: &[u8] = b"\"base64\"";

/// A reader of the pickle inside a page.
pub(super) fn open<'a>(mut page: impl Read + Send + 'a) -> Result<Box<dyn Read + Send + 'a>, ContainerError> {
    let mut head = Vec::new();
    let start = loop {
        let room = (64 * 1024).min(MAX_HEAD_BYTES - head.len() as u64);
        let n = page.by_ref().take(room).read_to_end(&mut head)?;
        // The field may lie across two pieces, so each search begins at the start of the page.
        if let Some(start) = text_start(&head) {
            break start;
        }
        if n == 0 {
            return Err(ContainerError::Foreign("a web page without a snapshot inside"));
        }
    };
    let text = Cursor::new(head.split_off(start)).chain(page);
    Ok(Box::new(DecoderReader::new(UntilQuote { inner: text, is_done: false }, &STANDARD)))
}

/// Where the base64 text starts: behind the field's name, a colon and a quote.
fn text_start(head: &[u8]) -> Option<usize> {
    let field = memmem::find(head, FIELD)? + FIELD.len();
    let colon = field + head[field..].iter().position(|b| !b.is_ascii_whitespace())?;
    let quote = colon + 1 + head[colon + 1..].iter().position(|b| !b.is_ascii_whitespace())?;
    (head[colon] == b':' && head[quote] == b'"').then_some(quote + 1)
}

/// A JSON string up to its closing quote; the escapes that base64 can need are undone.
struct UntilQuote<R> {
    inner: R,
    is_done: bool,
}

impl<R: Read> Read for UntilQuote<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut kept = 0;
        while kept == 0 && !self.is_done && !buf.is_empty() {
            let n = self.inner.read(buf)?;
            let end = memchr::memchr(b'"', &buf[..n]);
            self.is_done = end.is_some() || n == 0;
            for i in 0..end.unwrap_or(n) {
                // JSON may write a slash as backslash slash.
                if buf[i] != b'\\' {
                    buf[kept] = buf[i];
                    kept += 1;
                }
            }
        }
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pickle_in(page: &str) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        open(page.as_bytes()).ok()?.read_to_end(&mut out).ok()?;
        Some(out)
    }

    #[test]
    fn the_pickle_is_found_behind_the_field() {
        let page = r#"<html><script>const f = [{"name": "s", "base64": "gARdlC4A"}]</script>"#;
        assert_eq!(pickle_in(page), Some(vec![0x80, 4, b']', 0x94, b'.', 0]));
    }

    #[test]
    fn escaped_slashes_are_undone() {
        assert_eq!(pickle_in(r#"<p>"base64" : "\/\/8=""#), Some(vec![0xff, 0xff]));
    }

    #[test]
    fn endless_escapes_do_not_exhaust_the_stack() {
        let page = format!("<html>\"base64\":\"{}gARdlC4A\"", "\\".repeat(8 << 20));
        assert_eq!(pickle_in(&page), Some(vec![0x80, 4, b']', 0x94, b'.', 0]));
    }

    #[test]
    fn a_page_without_a_pickle_is_refused() {
        assert_eq!(pickle_in("<html>base64</html>"), None);
    }
}
