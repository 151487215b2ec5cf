//! Compressed parts that follow one another, and what may lie behind them.

use super::progress::Progress;
use std::io::{self, BufRead, Cursor, Read};
use std::marker::PhantomData;

/// Bytes by which every compressed part is told from anything else.
const MAGIC_BYTES: usize = 6;

/// Zeros behind a part, which tapes and some tools fill their last block with, are skipped up to here.
const MAX_PADDING_BYTES: usize = 16 << 20;

/// An input of which the next bytes can be looked at.
pub(super) struct Input<R> {
    /// Bytes that were looked at.
    ahead: Cursor<Vec<u8>>,
    /// `None` while a decoder is started anew.
    inner: Option<R>,
}

impl<R> Default for Input<R> {
    fn default() -> Self {
        Self { ahead: Cursor::default(), inner: None }
    }
}

impl<R: BufRead> Input<R> {
    fn new(inner: R) -> Self {
        Self { inner: Some(inner), ..Self::default() }
    }

    /// The next bytes, up to [`MAGIC_BYTES`].
    fn peek(&mut self) -> io::Result<&[u8]> {
        let mut head = Vec::with_capacity(MAGIC_BYTES);
        self.take(MAGIC_BYTES as u64).read_to_end(&mut head)?;
        self.ahead = Cursor::new(head);
        Ok(self.ahead.get_ref())
    }
}

impl<R: BufRead> BufRead for Input<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match &mut self.inner {
            Some(inner) if self.ahead.fill_buf()?.is_empty() => inner.fill_buf(),
            _ => self.ahead.fill_buf(),
        }
    }

    fn consume(&mut self, amount: usize) {
        let is_ahead = self.ahead.fill_buf().is_ok_and(|ahead| !ahead.is_empty());
        match &mut self.inner {
            Some(inner) if !is_ahead => inner.consume(amount),
            _ => self.ahead.consume(amount),
        }
    }
}

impl<R: BufRead> Read for Input<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(out)?;
        self.consume(n);
        Ok(n)
    }
}

/// A decoder of one part: a gzip member, an xz stream, a zstd frame.
pub(super) trait PartDecoder<R>: Read + Sized {
    /// Whether a part begins with some bytes.
    const IS_BEGUN: fn(&[u8]) -> bool;

    fn open(input: Input<R>) -> io::Result<Self>;
    /// The input, behind the part once all of it is decoded.
    fn input(&mut self) -> &mut Input<R>;
    /// Begin with the part that comes next.
    fn restart(&mut self) -> io::Result<()>;
}

/// A reader of parts that follow one another, as `cat a.gz b.gz` makes them. Anything else behind a part ends the input, and
/// `progress` is told.
pub(super) struct Parts<R, P> {
    part: P,
    is_done: bool,
    /// The error that was met: whoever had bytes before it asks again.
    failure: Option<(io::ErrorKind, String)>,
    progress: Progress,
    input: PhantomData<R>,
}

impl<R: BufRead, P: PartDecoder<R>> Parts<R, P> {
    pub(super) fn new(input: R, progress: &Progress) -> io::Result<Self> {
        let part = P::open(Input::new(input))?;
        Ok(Self { part, is_done: false, failure: None, progress: progress.clone(), input: PhantomData })
    }

    fn step(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !out.is_empty() && !self.is_done {
            let n = self.part.read(out)?;
            if n != 0 {
                return Ok(n);
            }
            self.next()?;
        }
        Ok(0)
    }

    /// Go on behind a part that has ended.
    fn next(&mut self) -> io::Result<()> {
        let input = self.part.input();
        skip_zeros(input)?;
        let head = input.peek()?;
        if (P::IS_BEGUN)(head) {
            return self.part.restart();
        }
        if !head.is_empty() {
            self.progress.set_has_more_behind();
        }
        self.is_done = true;
        Ok(())
    }
}

impl<R: BufRead, P: PartDecoder<R>> Read for Parts<R, P> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if let Some((kind, text)) = &self.failure {
            return Err(io::Error::new(*kind, text.as_str()));
        }
        let read = self.step(out);
        let failure = read.as_ref().err().filter(|error| error.kind() != io::ErrorKind::Interrupted);
        self.failure = failure.map(|error| (error.kind(), error.to_string()));
        read
    }
}

fn skip_zeros(input: &mut impl BufRead) -> io::Result<()> {
    let mut skipped = 0;
    while skipped < MAX_PADDING_BYTES {
        let found = input.fill_buf()?;
        let zeros = found.iter().take_while(|byte| **byte == 0).count();
        let is_end = zeros < found.len() || found.is_empty();
        input.consume(zeros);
        skipped += zeros;
        if is_end {
            break;
        }
    }
    Ok(())
}
