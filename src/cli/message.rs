//! `--message`: the text of PyTorch's own exception.

use super::failure::Failure;
use oomscope_diagnosis::OomMessage;
use oomscope_snapshot::load::{Utf8, open_regular};
use std::io::{self, Read};
use std::path::Path;

/// Bytes that are kept of a text, at most. The log of a long job would fill the memory, and the exception is near its end.
const MAX_KEPT_BYTES: usize = 4 << 20;

/// Bytes of a text that are read, at most: more is no log, but an input without end.
const MAX_READ_BYTES: u64 = 16 << 30;

/// Read the last out-of-memory exception of a text.
///
/// # Errors
/// If the text cannot be read, or has none.
pub(super) fn oom_message(path: &Path) -> Result<OomMessage, Failure> {
    let cannot = |error: io::Error| {
        let hint = "--message takes a file with the text of the exception, or '-' for standard input";
        Failure::new(format_args!("cannot read the message {}: {error}", path.display()), hint)
    };
    let text =
        if path == Path::new("-") { end_of(io::stdin().lock()) } else { open_regular(path).and_then(end_of) };
    let text = text.map_err(cannot)?;
    OomMessage::parse(&String::from_utf8_lossy(&text)).ok_or_else(|| {
        Failure::new(
            format_args!("{}: no out-of-memory exception of PyTorch", path.display()),
            "it contains 'CUDA out of memory. Tried to allocate …'",
        )
    })
}

/// The last [`MAX_KEPT_BYTES`] of an input.
fn end_of(input: impl Read) -> io::Result<Vec<u8>> {
    end_within(Utf8::new(input), MAX_READ_BYTES)
}

/// The last [`MAX_KEPT_BYTES`] of an input of at most about `max_bytes`.
fn end_within(mut input: impl Read, max_bytes: u64) -> io::Result<Vec<u8>> {
    let (mut kept, mut read_bytes): (Vec<u8>, u64) = (Vec::new(), 0);
    loop {
        let read = input.by_ref().take(MAX_KEPT_BYTES as u64).read_to_end(&mut kept)?;
        if read == 0 {
            return Ok(kept);
        }
        read_bytes = read_bytes.saturating_add(read as u64);
        if max_bytes < read_bytes {
            let message = format!("it is larger than {} GiB", max_bytes >> 30);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        let excess = kept.len().saturating_sub(MAX_KEPT_BYTES);
        kept.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_log_is_kept() {
        let mut log = vec![b'x'; 2 * MAX_KEPT_BYTES + 5];
        log.extend(b"end");
        let kept = end_of(log.as_slice()).expect("memory can be read");
        assert_eq!(kept.len(), MAX_KEPT_BYTES);
        assert!(kept.ends_with(b"end"));
        assert_eq!(end_of(&b"short"[..]).expect("memory can be read"), b"short");
        assert!(end_within(io::repeat(0), 10 << 20).is_err(), "it has no end");
    }
}
