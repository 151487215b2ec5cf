//! The sizes that PyTorch's caching allocator is built on, in bytes, under its own names.
//!
//! They are the constants of c10/cuda/CUDACachingAllocator (`kMinBlockSize` and so on), which have been
//! the same since the first version that writes snapshots. Settings can replace only [`LARGE_BUFFER`], by
//! `large_segment_size_mb`.

/// `kMinBlockSize`: every block is a multiple of this, and at least this large.
pub const MIN_BLOCK_SIZE: i64 = 512;

/// `kSmallSize`: blocks up to this size come from the small pool. A block of the large pool is only split
/// if more than this is left over, so it may be that much larger than its request.
pub const SMALL_SIZE: i64 = 1 << 20;

/// `kSmallBuffer`: the size of every segment of the small pool, and of the pages of its expandable segments.
pub const SMALL_BUFFER: i64 = 2 << 20;

/// `kLargeBuffer`: the size of a segment that large blocks share, and of the pages of large expandable
/// segments.
///
/// It is also the default of `max_non_split_rounding_mb`, and `max_split_size_mb` must be above it.
pub const LARGE_BUFFER: i64 = 20 << 20;

/// `kMinLargeAlloc`: blocks from this size on get a segment of their own size.
pub const MIN_LARGE_ALLOC: i64 = 10 << 20;

/// `kRoundLarge`: a segment for a single large block is a multiple of this.
pub const ROUND_LARGE: i64 = 2 << 20;

/// The smallest block that has room for a request, unless `roundup_power2_divisions` asks for more.
pub fn block_size(requested_bytes: i64) -> i64 {
    let blocks = requested_bytes.max(1).saturating_add(MIN_BLOCK_SIZE - 1) / MIN_BLOCK_SIZE;
    blocks.saturating_mul(MIN_BLOCK_SIZE)
}

/// True if a block of this size comes from the small pool.
#[inline]
pub fn is_small(block_bytes: i64) -> bool {
    block_bytes <= SMALL_SIZE
}

/// Bytes that the driver is asked for when no cached block can serve a block of this size. Segments that
/// large blocks share have `large_segment_bytes`: [`LARGE_BUFFER`], unless set otherwise.
pub fn segment_size(block_bytes: i64, large_segment_bytes: i64) -> i64 {
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
pub fn mapped_size(block_bytes: i64, free_bytes: i64, large_segment_bytes: i64) -> i64 {
    let page = if is_small(block_bytes) { SMALL_BUFFER } else { large_segment_bytes.max(1) };
    rounded_up(block_bytes.saturating_sub(free_bytes.max(0)).max(1), page)
}

/// The next multiple. Sizes come from files, so the result saturates instead of overflowing.
fn rounded_up(bytes: i64, multiple: i64) -> i64 {
    let count = bytes / multiple + i64::from(bytes % multiple != 0);
    count.saturating_mul(multiple)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: i64 = 1 << 20;

    #[test]
    fn requests_round_up_to_blocks() {
        let blocks = [i64::MIN, 0, 1, 512, 513, MIB + 1].map(block_size);
        assert_eq!(blocks, [512, 512, 512, 512, 1024, MIB + 512]);
    }

    #[test]
    fn expandable_segments_map_whole_pages() {
        let cases = [(512, 0), (32 * MIB, 0), (32 * MIB, 12 * MIB), (32 * MIB, 13 * MIB), (MIB, 4 * MIB)];
        let mapped = cases.map(|(block, free)| mapped_size(block, free, LARGE_BUFFER));
        assert_eq!(mapped, [2, 40, 20, 20, 2].map(|pages| pages * MIB));
        assert_eq!(mapped_size(i64::MAX, i64::MIN, 0), i64::MAX);
    }

    #[test]
    fn segments_have_three_sizes() {
        let sizes = [512, MIB, MIB + 512, 10 * MIB - 512, 10 * MIB, 11 * MIB, 1_052_246_016, i64::MAX];
        let segments = sizes.map(|size| segment_size(size, LARGE_BUFFER));
        let (small, shared) = (2 * MIB, 20 * MIB);
        let expected = [small, small, shared, shared, 10 * MIB, 12 * MIB, 1_052_770_304, i64::MAX];
        assert_eq!(segments, expected);
        assert_eq!(segment_size(MIB + 512, 64 * MIB), 64 * MIB);
        assert_eq!([0, -1, i64::MIN].map(|size| segment_size(size, LARGE_BUFFER)), [small; 3]);
    }
}
