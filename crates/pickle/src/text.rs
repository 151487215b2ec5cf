//! The text formats of protocol 0, where strings are lines.

/// STRING: a quoted literal as Python 2's `repr` writes it.
pub(super) fn unquote(line: &[u8]) -> Option<Vec<u8>> {
    let line = line.trim_ascii();
    let (&quote, rest) = line.split_first()?;
    let (&close, body) = rest.split_last()?;
    if quote != close || !matches!(quote, b'\'' | b'"') {
        return None;
    }
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let (&escape, after) = rest.split_first()?;
        rest = after;
        match escape {
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'x' => {
                out.push(u8::try_from(hex(rest.get(..2)?)?).ok()?);
                rest = &rest[2..];
            }
            b'\\' | b'\'' | b'"' => out.push(escape),
            _ => out.extend([b'\\', escape]),
        }
    }
    Some(out)
}

/// UNICODE: Latin-1 bytes with `\uXXXX` and `\UXXXXXXXX` escapes. The result is UTF-8.
pub(super) fn raw_unicode_escape(line: &[u8]) -> Option<Vec<u8>> {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        let digits = match after.first() {
            Some(b'u') if byte == b'\\' => 4,
            Some(b'U') if byte == b'\\' => 8,
            _ => {
                out.push(char::from(byte));
                rest = after;
                continue;
            }
        };
        let code = hex(after.get(1..=digits)?)?;
        // A lone surrogate has no UTF-8; Python would keep it, a message cannot show it.
        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = &after[1 + digits..];
    }
    Some(out.into_bytes())
}

fn hex(digits: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_strings() {
        assert_eq!(unquote(br"'a\'b\\\x41\n'"), Some(b"a'b\\A\n".to_vec()));
        assert_eq!(unquote(b"\"it's\""), Some(b"it's".to_vec()));
        assert_eq!(unquote(b"'open"), None);
        assert_eq!(unquote(b"'"), None);
    }

    #[test]
    fn unicode_lines() {
        assert_eq!(raw_unicode_escape(br"a\u005cb\u000ac"), Some(b"a\\b\nc".to_vec()));
        assert_eq!(
            raw_unicode_escape(b"caf\xe9 \\U0001f600"),
            Some("caf\u{e9} \u{1f600}".as_bytes().to_vec())
        );
        assert_eq!(raw_unicode_escape(br"\u12"), None);
    }
}
