//! From the bytes that a program asks for to the bytes of blocks and segments.

use super::Settings;
use oomscope_model::{Bytes, allocator_sizes};

// The allocator's sizes as the simulation counts: without sign, as torch does.
pub(crate) const MIN_BLOCK_SIZE: u64 = allocator_sizes::MIN_BLOCK_SIZE.unsigned_abs();
pub(crate) const SMALL_SIZE: u64 = allocator_sizes::SMALL_SIZE.unsigned_abs();
pub(crate) const SMALL_BUFFER: u64 = allocator_sizes::SMALL_BUFFER.unsigned_abs();

/// The most bytes of a request. Larger ones, which no device could meet, are treated as this large, so that sums of
/// sizes cannot overflow.
pub(crate) const MAX_REQUEST_BYTES: u64 = 1 << 44;

/// A recorded size as simulations count it, from 0 to [`MAX_REQUEST_BYTES`].
pub(crate) fn clamped(recorded_bytes: Bytes) -> u64 {
    recorded_bytes.as_u64().min(MAX_REQUEST_BYTES)
}

/// The size of the block that serves a request.
#[inline]
pub(crate) fn block_bytes(requested: u64, settings: &Settings) -> u64 {
    if requested < MIN_BLOCK_SIZE {
        return MIN_BLOCK_SIZE;
    }
    let divisions = u64::from(settings.divisions_for(requested));
    if 1 < divisions && MIN_BLOCK_SIZE * divisions < requested {
        return next_division(requested, divisions);
    }
    requested.next_multiple_of(MIN_BLOCK_SIZE)
}

/// The next of the equal parts between two powers of two.
fn next_division(bytes: u64, divisions: u64) -> u64 {
    if bytes.is_power_of_two() {
        return bytes;
    }
    let floor = 1 << bytes.ilog2();
    match floor >> divisions.ilog2() {
        0 => floor << 1,
        part => bytes.next_multiple_of(part),
    }
}

/// Whether a block of this size comes from the large pool.
#[inline]
pub(crate) fn is_large(block_bytes: u64) -> bool {
    SMALL_SIZE < block_bytes
}

/// Bytes of the segment that is asked for when no cached block can serve a block of this size.
#[inline]
pub(crate) fn segment_bytes(block_bytes: u64, settings: &Settings) -> u64 {
    allocator_sizes::segment_size(Bytes::of_size(block_bytes), Bytes::of_size(settings.large_segment_bytes))
        .unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn with(divisions: &str) -> Settings {
        let mut settings = Settings::default();
        settings.set("roundup_power2_divisions", divisions).expect("the value is valid");
        settings
    }

    #[test]
    fn requests_round_up_to_blocks() {
        let settings = Settings::default();
        for (requested, block) in [(0, 512), (1, 512), (512, 512), (513, 1024), (MIB + 1, MIB + 512)] {
            assert_eq!(block_bytes(requested, &settings), block);
        }
    }

    #[test]
    fn divisions_part_the_space_between_powers_of_two() {
        let settings = with("4");
        assert_eq!(block_bytes(1200 * MIB, &settings), 1280 * MIB);
        assert_eq!(block_bytes(1024 * MIB, &settings), 1024 * MIB);
        assert_eq!(block_bytes(1024 * MIB + 1, &settings), 1280 * MIB);
        assert_eq!(block_bytes(2048, &settings), 2048);
        assert_eq!(block_bytes(2049, &settings), 2560);
        assert_eq!(block_bytes(1025, &settings), 1536);
        let by_size = with("[64:8,256:4,1024:2,>:1]");
        assert_eq!(block_bytes(65 * MIB, &by_size), 72 * MIB);
        assert_eq!(block_bytes(129 * MIB, &by_size), 129 * MIB);
        assert_eq!(block_bytes(257 * MIB, &by_size), 320 * MIB);
        assert_eq!(block_bytes(3000 * MIB, &by_size), 3000 * MIB);
    }

    #[test]
    fn segments_that_large_blocks_share_are_as_large_as_the_setting() {
        let mut settings = Settings::default();
        let sizes =
            |settings: &Settings| [MIB, MIB + 512, 11 * MIB].map(|size| segment_bytes(size, settings));
        assert_eq!(sizes(&settings), [2 * MIB, 20 * MIB, 12 * MIB]);
        settings.set("large_segment_size_mb", "64").expect("the value is valid");
        assert_eq!(sizes(&settings), [2 * MIB, 64 * MIB, 12 * MIB]);
    }
}
