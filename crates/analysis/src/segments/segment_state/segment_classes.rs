//! The size classes of segments: as the end state records them, or as their size shows.

use super::group::SizeClass;
use oomscope_model::allocator_sizes::SMALL_BUFFER;
use oomscope_model::{DeviceId, Recording, ReservedRange, StrId, Timeline};

/// The size classes of the final segments.
#[derive(Debug, Clone)]
pub(super) struct SegmentClasses {
    /// First address, first address after it, and size class of each segment, by address.
    by_address: Vec<(u64, u64, SizeClass)>,
}

impl SegmentClasses {
    pub(super) fn new(recording: &Recording) -> Self {
        let segments = recording.segments.segments.iter();
        let class = |kind: StrId| match recording.snapshot().strings.name_bytes(kind) {
            b"small" => Some(SizeClass::Small),
            b"large" => Some(SizeClass::Large),
            _ => None,
        };
        // The host allocator has no size classes, although the file names one.
        let kinds = segments.filter(|_| recording.device != DeviceId::HOST);
        let mut by_address: Vec<_> = kinds
            .filter_map(|s| {
                let past_end = s.addr.saturating_add(s.size.as_u64());
                Some((s.addr, past_end, class(s.kind?)?))
            })
            .collect();
        by_address.sort_unstable();
        Self { by_address }
    }

    /// The class of a reserved range: that of its final segment, else by its size; `None` if neither
    /// shows it.
    pub(super) fn class_of_range(&self, timeline: &Timeline, range: &ReservedRange) -> Option<SizeClass> {
        if timeline.device == DeviceId::HOST {
            return None;
        }
        let recorded = range.end.is_none().then(|| self.class_at(range.addr)).flatten();
        let by_size = || {
            (!range.is_expandable).then_some(if range.size == SMALL_BUFFER {
                SizeClass::Small
            } else {
                SizeClass::Large
            })
        };
        recorded.or_else(by_size)
    }

    /// The class of the final segment that holds an address.
    pub(super) fn class_at(&self, addr: u64) -> Option<SizeClass> {
        let at = self.by_address.partition_point(|&(start, ..)| start <= addr).checked_sub(1)?;
        let (_, past_end, class) = self.by_address[at];
        (addr < past_end).then_some(class)
    }
}
