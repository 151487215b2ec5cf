//! Why a request failed.
//!
//! The order of the questions matters. Memory of attempts that failed before, memory that is retained from one iteration to
//! the next, or tensors that grow in each, explain any full device, so they come first. Then: had a free piece room for the request? If none had, would it have
//! fitted if the reserved memory had no holes? If so, and holes are a good part of it, it is fragmentation. What remains is too little memory, for one of three
//! reasons.

mod other_than_retained;
mod outside;

pub(super) use other_than_retained::{Pieces, pieces};
pub(super) use outside::{Outside, OutsideBasis, larger_device};

use super::case::{Case, FreePiece, Shortage};
use super::expandable::Expandable;
use super::failed_attempt::FailedAttempts;
use super::findings::FindingId;
use super::growing_tensors::GrowingTensors;
use super::retained::Retained;
use super::share::share;
use outside::outside;

/// Holes are the reason if they are at least this share of the reserved bytes: every program has some.
const HOLES_SHARE: f64 = 0.25;

/// This share is enough if the holes together are as large as the request, unless it fails without fragmentation as well.
const LARGE_HOLES_SHARE: f64 = 0.15;

/// Retained memory, or the growth of tensors, is the reason if it is at least this share of the reserved bytes. With
/// less, the program would soon have run out of memory anyway.
const LEAK_SHARE: f64 = 0.1;

/// Where memory is cut up, what is retained is the reason if it is at least one in this many of the holes' bytes: it will grow,
/// and less of it may be what keeps the holes apart.
const RETAINED_PART: i64 = 2;

/// A request is out of proportion if it is at least one in this many of the bytes that PyTorch could have.
const MOST_PART: i64 = 2;

/// It is also out of proportion if it is at least one in this many of them, and all blocks that are less than half as large
/// take at most half of its bytes.
const MUCH_PART: i64 = 4;

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// The program needs more than there is.
    Capacity,
    /// A free piece had room and was not used.
    FreePiece(FreePiece),
    /// There would be enough memory if it were in one piece. With what expandable segments would have changed, if that is known.
    Fragmentation(Option<Expandable>),
    /// One request is out of all proportion.
    SingleRequest,
    /// An attempt that failed before is still held.
    FailedAttempts,
    /// Memory is retained from iteration to iteration.
    Retained,
    /// Tensors get larger in every iteration.
    GrowingTensors,
    /// Something else holds the device's memory.
    Outside(Outside),
    /// The file does not show it.
    Unknown,
}

impl Cause {
    /// Whether memory is held that nothing needs any more.
    pub(super) fn is_leak(self) -> bool {
        matches!(self, Self::FailedAttempts | Self::Retained | Self::GrowingTensors)
    }

    /// The id of the verdict. Memory that nothing needs any more is a leak, whichever way.
    pub(super) fn id(self) -> FindingId {
        match self {
            Self::Capacity => FindingId::Capacity,
            Self::FreePiece(FreePiece::Late { .. }) => FindingId::PendingFree,
            Self::FreePiece(FreePiece::Elsewhere(_)) => FindingId::FreeElsewhere,
            Self::Fragmentation(_) => FindingId::Fragmentation,
            Self::SingleRequest => FindingId::SingleRequest,
            Self::FailedAttempts | Self::Retained | Self::GrowingTensors => FindingId::Leak,
            Self::Outside(_) => FindingId::OutsidePytorch,
            Self::FreePiece(FreePiece::Unused { .. }) | Self::Unknown => FindingId::Nothing,
        }
    }

    /// Find out why a request failed.
    pub(super) fn of(
        case: &Case<'_>,
        shortage: &Shortage,
        failed: Option<&FailedAttempts>,
        retained: Option<&Retained>,
        growing: Option<&GrowingTensors>,
    ) -> Self {
        let Some(excess) = shortage.excess_bytes().filter(|_| shortage.is_complete) else {
            return Self::Unknown;
        };
        let holes = share(shortage.hole_bytes, shortage.reserved_bytes);
        let is_large = shortage.oom.requested <= shortage.hole_bytes && LARGE_HOLES_SHARE <= holes;
        let is_cut_up = excess <= 0 && (HOLES_SHARE <= holes || is_large);
        // Without it, the request would have been met.
        let is_enough = |bytes: i64| excess <= bytes && LEAK_SHARE <= share(bytes, shortage.reserved_bytes);
        let explains = |retained: &Retained| {
            is_enough(retained.bytes)
                && !(is_cut_up && retained.bytes < shortage.hole_bytes / RETAINED_PART)
                && !other_than_retained::comes_first(case, shortage, retained)
        };
        if is_enough(failed.map_or(0, |failed| failed.bytes)) {
            return Self::FailedAttempts;
        }
        if retained.is_some_and(explains) {
            return Self::Retained;
        }
        if is_enough(growing.map_or(0, |growing| growing.grown_bytes)) {
            return Self::GrowingTensors;
        }
        if let Some(piece) = shortage.decisive_piece() {
            return Self::FreePiece(piece);
        }
        if !is_cut_up {
            return Self::of_too_little(case, shortage, excess);
        }
        match Expandable::simulate(case) {
            // Few holes, and with next to no fragmentation it fails as well.
            Some(Expandable::Fails { .. }) if holes < HOLES_SHARE => {
                Self::of_too_little(case, shortage, excess)
            }
            simulated => Self::Fragmentation(simulated),
        }
    }

    /// The cause if there is too little memory, however it is cut.
    fn of_too_little(case: &Case<'_>, shortage: &Shortage, excess: i64) -> Self {
        let outside = outside(case, shortage).filter(|outside| excess <= outside.bytes);
        let available = shortage.available_bytes().unwrap_or(shortage.reserved_bytes);
        let could_have = available.saturating_add(outside.map_or(0, |outside| outside.bytes));
        match outside {
            _ if is_out_of_proportion(case, shortage, could_have) => Self::SingleRequest,
            Some(outside) => Self::Outside(outside),
            None => Self::Capacity,
        }
    }
}

/// Whether one request, or a few of its size, would be most of the device.
fn is_out_of_proportion(case: &Case<'_>, shortage: &Shortage, available: i64) -> bool {
    let requested = shortage.oom.requested;
    if available / MOST_PART <= requested {
        return true;
    }
    let smaller = case.live.iter().map(|a| a.size).filter(|&size| size < requested / 2);
    available / MUCH_PART <= requested && smaller.fold(0, i64::saturating_add) <= requested / 2
}
