//! The driver under the allocator: its capacity, and the addresses of segments.

use super::addresses::Addresses;
use crate::requests::{FIRST_SIMULATED_ADDRESS, SegmentAction, SegmentEvent};

/// The most recorded segment events, from the present one on, in which the address of a new range is looked for. It
/// bounds the cost where none matches.
const MAX_LOOKAHEAD: usize = 4096;

/// Gives out memory, at the recorded addresses where the recording has the same segment.
#[derive(Debug, Clone)]
pub(super) struct Driver<'a> {
    /// Bytes that may be reserved in all.
    pub(super) capacity: u64,
    recorded: &'a [SegmentEvent],
    /// `recorded[from..to]` are the events between the request before and this one whose address is not taken yet.
    from: usize,
    to: usize,
    /// Where segments go that the recording does not have.
    pub(super) addresses: Addresses,
}

impl<'a> Driver<'a> {
    pub(super) fn new(capacity: u64, recorded: &'a [SegmentEvent]) -> Self {
        Self { capacity, recorded, from: 0, to: 0, addresses: Addresses::fresh() }
    }

    /// Go on to the request that was recorded at `event`.
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

    /// An address for a new segment: the recorded one, if this request got a segment of the same size. `None` if there is none
    /// left.
    pub(super) fn segment_address(&mut self, size: u64) -> Option<u64> {
        let wanted = |event: &SegmentEvent| event.action == SegmentAction::Alloc && event.size == size;
        self.recorded_address(wanted).or_else(|| self.addresses.take(size))
    }

    /// The address for a new range: the next one at which the recording maps pages of this size and no range is known.
    /// A range that was made when mapping failed shows only later.
    pub(super) fn range_address(
        &self,
        pool_stream: u32,
        page: u64,
        is_known: impl Fn(u64) -> bool,
    ) -> Option<u64> {
        let ahead = self.recorded[self.from..].iter().take(MAX_LOOKAHEAD);
        let mut maps = ahead.filter(|event| {
            (event.action, event.pool_stream) == (SegmentAction::Map, pool_stream)
                && event.size.is_multiple_of(page)
                && event.addr < FIRST_SIMULATED_ADDRESS
                && !is_known(event.addr)
        });
        maps.next().map(|event| event.addr)
    }

    /// Note that pages were mapped for this request, which uses up one recorded event.
    pub(super) fn mapped(&mut self) {
        let of_request = &self.recorded[self.from..self.to];
        if let Some(at) = of_request.iter().position(|event| event.action == SegmentAction::Map) {
            self.from += at + 1;
        }
    }

    fn recorded_address(&mut self, wanted: impl Fn(&SegmentEvent) -> bool) -> Option<u64> {
        let is_sane = |event: &SegmentEvent| event.addr < FIRST_SIMULATED_ADDRESS && wanted(event);
        let at = self.recorded[self.from..self.to].iter().position(is_sane)?;
        self.from += at + 1;
        Some(self.recorded[self.from - 1].addr)
    }
}
