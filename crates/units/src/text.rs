//! Text from a file, made safe and short enough for a terminal or a label.

use std::borrow::Cow;

/// Bytes of text that are shown at most: more than paths and the longest names of C++ functions have. A name of megabytes would
/// be laid out, escaped and repeated wherever it stands.
const SHOWN_BYTES: usize = 2000;

/// Bytes beyond that which are shown rather than left out: room for the mark, so that a text that was cut stays as it is.
const MARK_BYTES: usize = 48;

/// Bytes of a text that are read to show it: no character takes fewer bytes when it is shown than half of those in the text.
const READ_BYTES: usize = 2 * (SHOWN_BYTES + MARK_BYTES);

/// True for control characters (C0, DEL, C1), for marks that change the direction of the text around them, and for tags,
/// which no font shows but programs read.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

/// Text from a file, made safe for a terminal or a label.
///
/// Unprintable characters are replaced. Of a text of more than two thousand bytes the first are kept, with a mark that says how
/// many bytes were left out.
pub fn printable(text: &str) -> String {
    printable_start(text, 0)
}

/// The start of a text after which so many bytes follow.
fn printable_start(text: &str, more_bytes: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(SHOWN_BYTES + MARK_BYTES));
    // Where the text is cut if it is too long: bytes of what is shown, and of the text.
    let mut cut = None;
    for (at, c) in text.char_indices() {
        if SHOWN_BYTES <= shown.len() {
            let (kept, from) = *cut.get_or_insert((shown.len(), at));
            if SHOWN_BYTES + MARK_BYTES < shown.len() {
                shown.truncate(kept);
                return shown + &format!("… ({} more bytes)", text.len() - from + more_bytes);
            }
        }
        shown.push(if is_unprintable(c) { '\u{fffd}' } else { c });
    }
    shown
}

/// [`printable`] of a text as a file holds it. Bytes that are not UTF-8 become replacement characters, and of a text of megabytes
/// only what is shown is read.
pub fn printable_bytes(text: &[u8]) -> String {
    let (start, more_bytes) = start_of(text);
    printable_start(&start, more_bytes)
}

/// Whether a text is short enough to be shown without a cut.
pub fn is_shown_whole(text: &[u8]) -> bool {
    text.len() <= SHOWN_BYTES
}

/// As much of a text as is read to show it, and how many bytes follow.
fn start_of(text: &[u8]) -> (Cow<'_, str>, usize) {
    let is_inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let end = text.len().min(READ_BYTES);
    // Not within a character, of which at most three bytes follow the first.
    let end = (0..4).map(|n| end.saturating_sub(n)).find(|&at| !is_inside(at)).unwrap_or(end);
    (String::from_utf8_lossy(&text[..end]), text.len() - end)
}

/// Text made safe as by [`printable`], whole: for texts that the user wrote, or that are bounded elsewhere.
pub fn printable_whole(text: &str) -> String {
    text.chars().map(|c| if is_unprintable(c) { '\u{fffd}' } else { c }).collect()
}

/// Text of several lines as a file holds it, made safe for a terminal and bounded as by [`printable`]; its line breaks stay.
pub fn printable_lines(text: &[u8]) -> String {
    let (text, mut more_bytes) = start_of(text);
    let mut left = SHOWN_BYTES + MARK_BYTES;
    let mut lines = Vec::new();
    for (at, line) in text.split('\n').scan(0, |at, line| {
        *at += line.len() + 1;
        Some((*at - line.len() - 1, line))
    }) {
        if left == 0 {
            more_bytes += text.len() - at;
            break;
        }
        left = left.saturating_sub(line.len() + 1);
        lines.push(printable(line.strip_suffix('\r').unwrap_or(line)));
    }
    if more_bytes != 0 {
        lines.push(format!("… ({more_bytes} more bytes)"));
    } else if text.ends_with('\n') && lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_controls_a_terminal_is_replaced() {
        assert_eq!(printable("a\x1b[31mb\nc\u{202e}"), "a\u{fffd}[31mb\u{fffd}c\u{fffd}");
        assert_eq!(printable_whole("a\x1bb"), "a\u{fffd}b");
        assert_eq!(printable_lines(b"a\r\n\tb\n\nc\n"), "a\n\u{fffd}b\n\nc");
        assert_eq!(printable_lines(b""), "");
    }

    #[test]
    fn a_long_text_is_cut_once_and_says_how_much_is_missing() {
        let cut = printable(&"x".repeat(10_000_000));
        assert_eq!(cut, format!("{}… (9998000 more bytes)", "x".repeat(2000)));
        assert_eq!(printable(&cut), cut);
        for text in ["x".repeat(2048), "é".repeat(1000)] {
            assert_eq!(printable(&text), text);
        }
        let controls = printable(&"\0".repeat(3000));
        assert!(controls.starts_with("\u{fffd}") && controls.ends_with("… (2333 more bytes)"), "{controls}");
        assert_eq!(printable(&controls), controls);
        assert_eq!(printable_whole(&"x".repeat(5000)).len(), 5000);
    }

    #[test]
    fn bytes_are_shown_as_their_text_is() {
        for text in
            ["x".repeat(10_000), "é".repeat(5000), format!("a{}", "é".repeat(5000)), "\0".repeat(9000)]
        {
            assert_eq!(printable_bytes(text.as_bytes()), printable(&text));
        }
        let tags = "\u{e0041}".repeat(3000);
        assert_eq!(printable_bytes(tags.as_bytes()), printable(&tags));
        assert_eq!(printable_bytes(b"a\xffb"), "a\u{fffd}b");
        assert!(printable_bytes(&[0x80; 5000]).ends_with(" more bytes)"));
    }

    #[test]
    fn many_lines_are_cut_as_one_long_line_is() {
        let lines = printable_lines("0123456789\n".repeat(100_000).as_bytes());
        assert!(
            lines.len() < 3000 && lines.ends_with("… (1097943 more bytes)"),
            "{}",
            &lines[lines.len() - 40..]
        );
    }
}
