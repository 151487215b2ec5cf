//! A failed request beside the holes that it could have used.

use super::group::{GroupKey, SizeClass};
use super::index::SegmentIndex;
use super::part::{Content, Part};
use super::state::SegmentState;
use oomscope_model::{Bytes, OomEvent, PoolKey, Timeline, allocator_sizes};

/// Number of holes that are listed one by one; in a picture, more would be too thin to see.
const MAX_LISTED: usize = 64;

/// Free memory that a request must not use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherHoles {
    /// Whose it is.
    pub key: GroupKey,
    /// Bytes of the largest hole.
    pub largest_bytes: Bytes,
    /// Bytes of all holes.
    pub bytes: Bytes,
}

/// A failed request and the holes at that moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFit {
    /// Bytes that were requested, rounded up to a block size.
    pub requested_bytes: Bytes,
    /// Bytes that the device had left; `None` if that was not recorded.
    pub device_free_bytes: Option<Bytes>,
    /// The stream of the request; `None` if it was not recorded.
    pub stream: Option<i64>,
    /// The pool of the request; `None` before torch 2.10, which did not write it.
    pub pool: Option<PoolKey>,
    /// The half of the pool that serves the request.
    pub class: SizeClass,
    /// The largest hole that it could use, as indices of a row and a part of the map.
    pub largest: Option<(usize, usize)>,
    /// Bytes of that hole.
    pub largest_bytes: Bytes,
    /// The holes that it could use and that have room for it, as indices of parts of the map.
    pub with_room: Vec<usize>,
    /// Bytes of the holes that it could use, largest first; at most 64.
    pub largest_holes: Vec<Bytes>,
    /// Number of holes of its pool, stream and size class.
    pub holes: usize,
    /// Bytes of those holes.
    pub hole_bytes: Bytes,
    /// Number of those holes that are smaller than the request.
    pub too_small: usize,
    /// Bytes of the holes that are too small.
    pub too_small_bytes: Bytes,
    /// Bytes of holes that are large enough, but that `max_split_size_mb` keeps for other requests.
    pub kept_bytes: Bytes,
    /// Bytes of holes of other pools, streams or size classes.
    pub other_bytes: Bytes,
    /// The holes of each other pool, stream and size class.
    pub others: Vec<OtherHoles>,
    /// Whether the file has private pools and does not say which pool the request was for.
    pub is_pool_unknown: bool,
    /// Bytes of the largest hole of an expandable segment that new pages would extend, since nothing is mapped behind it.
    pub extensible_bytes: Bytes,
}

impl SegmentState {
    /// The holes beside a failed request. The map must be that of the moment after its event.
    pub fn fit(&self, index: &SegmentIndex, timeline: &Timeline, oom: &OomEvent) -> RequestFit {
        let mut fit = RequestFit {
            requested_bytes: oom.requested,
            device_free_bytes: oom.device_free,
            stream: timeline.events.stream(oom.event),
            pool: timeline.events.pool(oom.event),
            class: if allocator_sizes::is_small(oom.requested) { SizeClass::Small } else { SizeClass::Large },
            largest: None,
            largest_bytes: Bytes::ZERO,
            with_room: Vec::new(),
            largest_holes: Vec::new(),
            holes: 0,
            hole_bytes: Bytes::ZERO,
            too_small: 0,
            too_small_bytes: Bytes::ZERO,
            kept_bytes: Bytes::ZERO,
            other_bytes: Bytes::ZERO,
            others: Vec::new(),
            is_pool_unknown: false,
            extensible_bytes: Bytes::ZERO,
        };
        let serves: Vec<bool> =
            self.groups.iter().map(|group| fit.is_served_by(group.key, index.has_private_pools)).collect();
        for (i, row) in self.rows.iter().enumerate() {
            if !serves[row.group] {
                fit.other_bytes += row.figures.hole_bytes;
                continue;
            }
            for part in row.parts.clone() {
                fit.hole(index, i, part, &self.parts[part]);
            }
            if row.is_expandable {
                fit.extensible_bytes = fit.extensible_bytes.max(extensible_bytes(self.parts_of(row)));
            }
        }
        let others = self.groups.iter().zip(&serves).filter(|(_, serves)| !*serves);
        fit.others = others
            .map(|(group, _)| OtherHoles {
                key: group.key,
                largest_bytes: group.figures.largest_hole_bytes,
                bytes: group.figures.hole_bytes,
            })
            .filter(|holes| 0 < holes.bytes)
            .collect();
        fit.is_pool_unknown = fit.pool.is_none() && index.has_private_pools;
        fit.largest_holes.sort_unstable_by(|a, b| b.cmp(a));
        fit.largest_holes.truncate(MAX_LISTED);
        fit
    }
}

/// Bytes of the largest of the holes behind which nothing is mapped.
fn extensible_bytes(parts: &[Part]) -> Bytes {
    let next = parts.iter().skip(1).map(|part| part.content).map(Some).chain([None]);
    let at_edge = parts.iter().zip(next).filter(|(part, next)| {
        part.content == Content::Hole && next.is_none_or(|next| next == Content::Unmapped)
    });
    at_edge.map(|(part, _)| part.size).max().unwrap_or_default()
}

impl RequestFit {
    /// The pool, the stream and the size class of the request.
    pub fn key(&self) -> GroupKey {
        GroupKey { is_outside: false, pool: self.pool, stream: self.stream, class: Some(self.class) }
    }

    /// True if a group's holes can serve this request. Pools, streams and classes that were not recorded
    /// agree with any.
    fn is_served_by(&self, key: GroupKey, has_private_pools: bool) -> bool {
        let agree = |a: Option<i64>, b: Option<i64>| a.zip(b).is_none_or(|(a, b)| a == b);
        let pool = self.pool.unwrap_or(PoolKey::DEFAULT);
        !key.is_outside
            && (!has_private_pools || key.pool.is_none_or(|of_group| of_group == pool))
            && agree(key.stream, self.stream)
            && key.class.is_none_or(|class| class == self.class)
    }

    fn hole(&mut self, index: &SegmentIndex, row: usize, at: usize, part: &Part) {
        if part.content != Content::Hole {
            return;
        }
        self.holes += 1;
        self.hole_bytes += part.size;
        if part.size < self.requested_bytes {
            self.too_small += 1;
            self.too_small_bytes += part.size;
        } else if !index.split.allows(self.requested_bytes, part.size) {
            self.kept_bytes += part.size;
            return;
        } else {
            self.with_room.push(at);
        }
        self.largest_holes.push(part.size);
        if self.largest_bytes < part.size {
            (self.largest, self.largest_bytes) = (Some((row, at)), part.size);
        }
    }
}
