//! What one input may take, so that a small file that is made to expand cannot fill memory or keep a core busy.

use super::ErrorKind;

/// Bytes of memory that any input may take, however small it is: every machine can spare them.
const BASE_MEMORY_BYTES: u64 = 128 << 20;

/// Bytes of memory that an input may take beyond that for each byte that it takes where it is stored. Compressed
/// snapshots take up to 20. An answer takes up to four times what is kept, so an input below 1 MB, whatever it expands
/// to, stays below 1 GiB.
const MEMORY_BYTES_PER_STORED_BYTE: u64 = 100;

/// Bytes of memory that an input may take at most, however large it is. Plain snapshots of 40 GB take less.
const MAX_MEMORY_BYTES: u64 = 16 << 30;

/// Bytes that any input may expand to: some seconds of decoding.
const BASE_READ_BYTES: u64 = 1 << 30;

/// Bytes that an input may expand to beyond that for each byte that it takes where it is stored. Compressed snapshots
/// expand to less than 100.
const READ_BYTES_PER_STORED_BYTE: u64 = 1000;

/// What an input may take at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    stored: u64,
    memory: u64,
    read: u64,
}

impl Bound {
    /// What an input may take of which so many bytes, as they are stored, were read so far: in proportion to them.
    pub fn of_stored(stored: u64) -> Self {
        let grown = |base: u64, by: u64| base.saturating_add(stored.saturating_mul(by));
        Self {
            stored,
            memory: grown(BASE_MEMORY_BYTES, MEMORY_BYTES_PER_STORED_BYTE).min(MAX_MEMORY_BYTES),
            read: grown(BASE_READ_BYTES, READ_BYTES_PER_STORED_BYTE),
        }
    }

    /// This much memory instead, in bytes, and any number of bytes to decode: the user trusts the input.
    #[must_use]
    pub fn with_memory(self, memory: u64) -> Self {
        Self { memory, read: u64::MAX, ..self }
    }

    /// Check the bytes of memory that the values take, and those of the pickle or JSON that were decoded.
    pub fn check(self, held_bytes: usize, read_bytes: u64) -> Result<(), ErrorKind> {
        let Self { stored, memory, read } = self;
        if memory < held_bytes as u64 {
            Err(ErrorKind::Memory { stored, limit: memory, found: held_bytes as u64 })
        } else if read < read_bytes {
            Err(ErrorKind::Expansion { stored, limit: read })
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_bytes_to_decode_follow_what_is_stored() {
        let small = Bound::of_stored(1_000_000);
        let memory = (128 << 20) + 100_000_000;
        assert!(small.check(memory, 2_000_000_000).is_ok());
        let refused = small.check(memory + 1, 0);
        assert!(
            matches!(refused, Err(ErrorKind::Memory { stored: 1_000_000, found, .. }) if found == memory as u64 + 1)
        );
        let refused = small.check(0, (1 << 30) + 1_000_000_001);
        assert!(matches!(refused, Err(ErrorKind::Expansion { stored: 1_000_000, limit: 2_073_741_824 })));
    }

    #[test]
    fn large_files_have_an_absolute_bound_and_trusted_ones_that_of_the_user() {
        let large = Bound::of_stored(4_000_000_000);
        assert!(large.check(16 << 30, 4_000_000_000).is_ok());
        assert!(large.check((16 << 30) + 1, 0).is_err());
        assert!(Bound::of_stored(u64::MAX).check(1 << 34, u64::MAX).is_ok());
        let trusted = Bound::of_stored(10).with_memory(32 << 30);
        assert!(trusted.check(32 << 30, u64::MAX).is_ok());
        assert!(trusted.check((32 << 30) + 1, 0).is_err());
    }
}
