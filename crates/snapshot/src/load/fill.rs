//! Filling a buffer from reads that may each give less.

use std::io;

/// Fill `buf` as far as `read` gives bytes: it gets the rest of `buf`, and how many bytes there are before it. Bytes before
/// an error are returned first.
pub(super) fn fill(
    buf: &mut [u8],
    mut read: impl FnMut(&mut [u8], usize) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buf.len() {
        match read(&mut buf[filled..], filled) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if filled == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_before_an_error_come_first_and_interruptions_are_nothing() {
        let mut answers =
            [Ok(3), Err(io::ErrorKind::Interrupted), Ok(2), Err(io::ErrorKind::NotFound)].into_iter();
        let mut seen = Vec::new();
        let read = |rest: &mut [u8], filled| {
            seen.push((rest.len(), filled));
            answers.next().unwrap_or(Ok(0)).map_err(io::Error::from)
        };
        assert_eq!(fill(&mut [0; 8], read).ok(), Some(5));
        assert_eq!(seen, [(8, 0), (5, 3), (5, 3), (3, 5)]);
        let failed = fill(&mut [0; 8], |_, _| Err(io::ErrorKind::NotFound.into()));
        assert_eq!(failed.map_err(|error| error.kind()), Err(io::ErrorKind::NotFound));
    }
}
