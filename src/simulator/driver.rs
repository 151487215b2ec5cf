//! The device under the allocator: how much it has, and where it puts segments.

use super::SegmentEvent;
use super::segment_events::SegmentAction;
use crate::model::allocator_sizes::ROUND_LARGE;

/// How much memory there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Device {
    /// Bytes that PyTorch's pools may reserve in all; `None` for as many as they ask for.
    pub capacity_bytes: Option<u64>,
    /// Bytes that the device has in all, for settings that are a part of it; `None` if unknown. Then
    /// the capacity stands in for it.
    pub total_bytes: Option<u64>,
    /// What `set_per_process_memory_fraction` leaves of it, where settings do not say the fraction.
    pub allowed_bytes: Option<u64>,
}

impl Device {
    /// Bytes that can be reserved at most, as far as that is known.
    pub fn limit_bytes(&self) -> Option<u64> {
        self.capacity_bytes.into_iter().chain(self.allowed_bytes).min()
    }
}

/// More than any device has.
pub(super) const UNLIMITED_BYTES: u64 = 1 << 50;

/// Addresses of segments that the recording does not have; recorded ones are below.
pub(super) const FIRST_OWN_ADDRESS: u64 = 1 << 60;

/// How far ahead the address of a range is looked for.
const MAX_LOOKAHEAD: usize = 4096;

/// Gives out memory, at the recorded addresses where the recording has the same segment.
#[derive(Debug, Clone)]
pub(super) struct Driver<'a> {
    pub(super) capacity: u64,
    recorded: &'a [SegmentEvent],
    /// The recorded events between the request before and this one that were not used yet.
    from: usize,
    to: usize,
    next_own: u64,
}

impl<'a> Driver<'a> {
    pub(super) fn new(capacity: u64, recorded: &'a [SegmentEvent]) -> Self {
        Self { capacity, recorded, from: 0, to: 0, next_own: FIRST_OWN_ADDRESS }
    }

    /// Go on to the request that this event recorded.
    #[inline]
    pub(super) fn advance(&mut self, event: u32) {
        if self.recorded.get(self.to).is_some_and(|next| next.event < event) {
            self.from = self.to;
            while self.recorded.get(self.to).is_some_and(|next| next.event < event) {
                self.to += 1;
            }
        } else {
            self.from = self.to;
        }
    }

    /// An address for a new segment.
    pub(super) fn segment_address(&mut self, size: u64) -> u64 {
        let wanted = |event: &SegmentEvent| event.action == SegmentAction::Alloc && event.size == size;
        self.recorded_address(wanted).unwrap_or_else(|| self.own_address(size))
    }

    /// The address of a range that is new: the next one at which the recording maps pages of this size
    /// and nothing is yet. A range that was made when mapping failed shows only later.
    pub(super) fn range_address(&self, lane: u32, page: u64, is_known: impl Fn(u64) -> bool) -> Option<u64> {
        let ahead = self.recorded[self.from..].iter().take(MAX_LOOKAHEAD);
        let mut maps = ahead.filter(|event| {
            (event.action, event.lane) == (SegmentAction::Map, lane)
                && event.size.is_multiple_of(page)
                && event.addr < FIRST_OWN_ADDRESS
                && !is_known(event.addr)
        });
        maps.next().map(|event| event.addr)
    }

    /// Pages were mapped for this request.
    pub(super) fn mapped(&mut self) {
        let of_request = &self.recorded[self.from..self.to];
        if let Some(at) = of_request.iter().position(|event| event.action == SegmentAction::Map) {
            self.from += at + 1;
        }
    }

    fn recorded_address(&mut self, wanted: impl Fn(&SegmentEvent) -> bool) -> Option<u64> {
        let is_sane = |event: &SegmentEvent| event.addr < FIRST_OWN_ADDRESS && wanted(event);
        let at = self.recorded[self.from..self.to].iter().position(is_sane)?;
        self.from += at + 1;
        Some(self.recorded[self.from - 1].addr)
    }

    /// An address that no recorded segment has.
    pub(super) fn own_address(&mut self, size: u64) -> u64 {
        let addr = self.next_own;
        let next = addr.checked_add(size.next_multiple_of(ROUND_LARGE.unsigned_abs()));
        self.next_own = next.filter(|&next| next < u64::MAX >> 1).unwrap_or(FIRST_OWN_ADDRESS);
        addr
    }
}
