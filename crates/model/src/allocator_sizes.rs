//! The sizes that PyTorch's caching allocator is built on, in bytes, under its own names.
//!
//! They are the constants of c10/cuda/CUDACachingAllocator (`kMinBlockSize` and so on), which have been
//! the same since the first version that writes snapshots. Settings can replace only [`LARGE_BUFFER`], by
//! `large_segment_size_mb`.

use super::Bytes;

/// `kMinBlockSize`: every block is a multiple of this, and at least this large.
pub const MIN_BLOCK_SIZE: Bytes = Bytes(512);

/// `kSmallSize`: blocks up to this size come from the small pool. A block of the large pool is only split
/// if more than this is left over, so it may be that much larger than its request.
pub const SMALL_SIZE: Bytes = Bytes(1 << 20);

/// `kSmallBuffer`: the size of every segment of the small pool, and of the pages of its expandable segments.
pub const SMALL_BUFFER: Bytes = Bytes(2 << 20);

/// `kLargeBuffer`: the size of a segment that large blocks share, and of the pages of large expandable
/// segments.
///
/// It is also the default of `max_non_split_rounding_mb`, and `max_split_size_mb` must be above it.
pub const LARGE_BUFFER: Bytes = Bytes(20 << 20);

/// `kMinLargeAlloc`: blocks from this size on get a segment of their own size.
pub const MIN_LARGE_ALLOC: Bytes = Bytes(10 << 20);

/// `kRoundLarge`: a segment for a single large block is a multiple of this.
pub const ROUND_LARGE: Bytes = Bytes(2 << 20);

/// The smallest block that has room for a request, unless `roundup_power2_divisions` asks for more.
pub fn block_size(requested_bytes: Bytes) -> Bytes {
    rounded_up(requested_bytes.max(Bytes(1)), MIN_BLOCK_SIZE)
}

/// True if a block of this size comes from the small pool.
#[inline]
pub fn is_small(block_bytes: Bytes) -> bool {
    block_bytes <= SMALL_SIZE
}

/// Bytes that the driver is asked for when no cached block can serve a block of this size. Segments that
/// large blocks share have `large_segment_bytes`: [`LARGE_BUFFER`], unless set otherwise.
pub fn segment_size(block_bytes: Bytes, large_segment_bytes: Bytes) -> Bytes {
    if is_small(block_bytes) {
        SMALL_BUFFER
    } else if block_bytes < MIN_LARGE_ALLOC {
        large_segment_bytes
    } else {
        rounded_up(block_bytes, ROUND_LARGE)
    }
}

/// Bytes of the pages that an expandable segment maps for a block of this size, beside free bytes at its end. Pages for large
/// blocks have `large_segment_bytes`.
pub fn mapped_size(block_bytes: Bytes, free_bytes: Bytes, large_segment_bytes: Bytes) -> Bytes {
    let page = if is_small(block_bytes) { SMALL_BUFFER } else { large_segment_bytes.max(Bytes(1)) };
    rounded_up((block_bytes - free_bytes.or_zero()).max(Bytes(1)), page)
}

/// The next multiple. Sizes come from files, so the result saturates instead of overflowing.
fn rounded_up(bytes: Bytes, multiple: Bytes) -> Bytes {
    let count = bytes / multiple + i64::from(bytes % multiple != 0);
    multiple * count
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: Bytes = Bytes(1 << 20);

    #[test]
    fn requests_round_up_to_blocks() {
        let blocks = [Bytes::MIN, Bytes(0), Bytes(1), Bytes(512), Bytes(513), MIB + Bytes(1)].map(block_size);
        assert_eq!(blocks, [512, 512, 512, 512, 1024, MIB.0 + 512]);
    }

    #[test]
    fn expandable_segments_map_whole_pages() {
        let cases = [(Bytes(512), 0), (32 * MIB, 0), (32 * MIB, 12), (32 * MIB, 13), (MIB, 4)];
        let mapped = cases.map(|(block, free)| mapped_size(block, free * MIB, LARGE_BUFFER));
        assert_eq!(mapped, [2, 40, 20, 20, 2].map(|pages| pages * MIB));
        assert_eq!(mapped_size(Bytes::MAX, Bytes::MIN, Bytes::ZERO), Bytes::MAX);
    }

    #[test]
    fn segments_have_three_sizes() {
        let sizes = [
            Bytes(512),
            MIB,
            MIB + Bytes(512),
            10 * MIB - Bytes(512),
            10 * MIB,
            11 * MIB,
            Bytes(1_052_246_016),
            Bytes::MAX,
        ];
        let segments = sizes.map(|size| segment_size(size, LARGE_BUFFER));
        let (small, shared) = (2 * MIB, 20 * MIB);
        let expected = [small, small, shared, shared, 10 * MIB, 12 * MIB, Bytes(1_052_770_304), Bytes::MAX];
        assert_eq!(segments, expected);
        assert_eq!(segment_size(MIB + Bytes(512), 64 * MIB), 64 * MIB);
        assert_eq!(
            [Bytes::ZERO, Bytes(-1), Bytes::MIN].map(|size| segment_size(size, LARGE_BUFFER)),
            [small; 3]
        );
    }
}
