//! Texts in quotes, in which `\"` and `\\` stand for themselves.

/// The text in quotes.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// What is in the quotes that a text begins with, and the length of both together. `None` if they are not closed.
pub fn unquoted(text: &str) -> Option<(String, usize)> {
    let mut inside = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        let escaped = chars.next_if(|&(_, next)| c == '\\' && matches!(next, '"' | '\\'));
        match (c, escaped) {
            ('"', _) => return Some((inside, at + 1)),
            (_, Some((_, next))) => inside.push(next),
            _ => inside.push(c),
        }
    }
    None
}

#[test]
fn what_is_quoted_is_read_again() {
    for text in ["", "a b", "\"", "\\", r#"C:\new "folder"\"#] {
        let written = quoted(text) + " rest";
        assert_eq!(unquoted(&written), Some((text.to_owned(), written.len() - 5)), "{text}");
    }
    assert_eq!(unquoted("\"open"), None);
    assert_eq!(unquoted("\"open\\\""), None);
}
