//! Bytes as choices: numbers, and one of several.

/// Sizes, times and the like: the ends of their range, and what lies near limits.
const ABSURD: [i64; 12] = [
    i64::MIN,
    i64::MIN + 1,
    -(1 << 53),
    -1,
    0,
    511,
    (20 << 20) + 1,
    1 << 32,
    1 << 53,
    i64::MAX / 2 + 1,
    i64::MAX - 511,
    i64::MAX,
];

/// Choices that the bytes make, one after the other. When they are used up, every choice is the first one.
pub(crate) struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        first
    }

    /// True once in `n` times.
    pub(crate) fn once_in(&mut self, n: u8) -> bool {
        self.byte() % n == n - 1
    }

    /// A number from 0 to `n - 1`, or 0 if that is none; `n` is at most 256 if all are to be possible.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()).checked_rem(n).unwrap_or(0)
    }

    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    pub(crate) fn short(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// Any number, more often one at an end.
    pub(crate) fn absurd(&mut self) -> i64 {
        match self.byte() {
            0..200 => self.pick(&ABSURD),
            _ => i64::from_le_bytes(std::array::from_fn(|_| self.byte())),
        }
    }

    /// A number of bytes as programs ask for, or once in 64 times an absurd one.
    pub(crate) fn size(&mut self) -> i64 {
        let size = match self.byte() {
            0..80 => i64::from(self.byte()) * 16,
            80..160 => i64::from(self.short()) * 64,
            160..252 => i64::from(self.short()) << 10,
            _ => return self.absurd(),
        };
        size + 1
    }

    /// A short text of the bytes.
    pub(crate) fn text(&mut self) -> String {
        let len = self.below(24).min(self.bytes.len());
        let (text, rest) = self.bytes.split_at(len);
        self.bytes = rest;
        String::from_utf8_lossy(text).into_owned()
    }
}
