//! Why a request failed: what, had it been otherwise, would have let the program go on.
//!
//! The questions, in this order, all about the request that failed. Where does free memory lie, by the allocator's own rules?
//! Would the request have been met if free memory were in one piece, if the process had the device for itself, or without
//! memory that stays for nothing? Of those that would have been enough, the largest is the cause. Of what remains, the verdict
//! asks the other findings (`verdict::named`): what else is not needed? Otherwise the program needs more than there is.

mod other_than_retained;
mod outside;

pub(super) use other_than_retained::{Pieces, pieces};
pub(super) use outside::{Outside, OutsideBasis, USUAL_DEVICE_BYTES, larger_device};

use super::answered::Answered;
use super::case::{Case, FreePiece, Shortage};
use super::expandable::Expandable;
use super::failed_attempt::FailedAttempts;
use super::figure::{self, Figure};
use super::findings::FindingId;
use super::growing_tensors::GrowingTensors;
use super::retained::Retained;
use super::sentence::say;
use oomscope_model::Bytes;
use oomscope_program::share::share;
use outside::outside;

/// Holes are the reason if they are at least this share of the reserved bytes. Every program has some; to put those in order
/// only postpones the failure within the same iteration. Of the recordings that failed with enough memory in all, those whose
/// truth is neither fragmentation nor a leak have 8 % at most, but for one of 13 % that fails in order, too; the fragmented
/// ones have 18 % at least.
const HOLES_SHARE: f64 = 0.15;

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cause {
    /// The program needs more than there is.
    Capacity,
    /// Free memory had room and was not used.
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
    /// The rank has more than the others of its job.
    UnevenRanks,
    /// Something else holds the device's memory.
    Outside(Outside),
    /// The file does not show it.
    Unknown,
}

impl Cause {
    /// Whether memory is held that nothing needs any more.
    pub(super) fn is_leak(&self) -> bool {
        matches!(self, Self::FailedAttempts | Self::Retained | Self::GrowingTensors)
    }

    /// The id of the verdict. Memory that nothing needs any more is a leak, whichever way.
    pub(super) fn id(&self) -> FindingId {
        match self {
            Self::Capacity => FindingId::Capacity,
            Self::FreePiece(FreePiece::Late { .. }) => FindingId::PendingFree,
            Self::FreePiece(FreePiece::Kept { .. }) => FindingId::KeptFree,
            Self::FreePiece(FreePiece::OtherPool(_)) => FindingId::OtherPool,
            Self::FreePiece(FreePiece::OtherStream(_)) => FindingId::OtherStream,
            Self::Fragmentation(_) => FindingId::Fragmentation,
            Self::SingleRequest => FindingId::SingleRequest,
            Self::FailedAttempts | Self::Retained | Self::GrowingTensors => FindingId::Leak,
            Self::UnevenRanks => FindingId::UnevenRanks,
            Self::Outside(_) => FindingId::OutsidePytorch,
            Self::FreePiece(FreePiece::Unused { .. }) | Self::Unknown => FindingId::Nothing,
        }
    }

    /// Find out why a request failed, with the questions that were asked.
    pub(super) fn of(
        case: &Case<'_>,
        shortage: &Shortage,
        failed: Option<&FailedAttempts>,
        retained: Option<&Retained>,
        growing: Option<&GrowingTensors>,
    ) -> (Self, Vec<Answered>) {
        let Some(excess) = shortage.excess_bytes().filter(|_| shortage.is_complete) else {
            let figures = say!("{} reserved", figure::bytes(shortage.reserved_bytes));
            let asks = "Does the file show what was in use, and what the device had left?";
            return (Self::Unknown, vec![Answered { asks, figures, is_yes: false }]);
        };
        let piece = shortage.decisive_piece();
        let mut asked = vec![Answered {
            asks: "Had free memory room for the request, where the allocator could not use it?",
            figures: say!("{} free, {} requested", figure::bytes(shortage.hole_bytes), requested(shortage)),
            is_yes: piece.is_some(),
        }];
        if let Some(piece) = piece {
            return (Self::FreePiece(piece), asked);
        }
        let (without, answers) = without_memory(
            case,
            shortage,
            excess,
            [failed.map(|failed| failed.bytes), growing.map(|growing| growing.grown_bytes)],
            retained,
        );
        asked.extend(without);
        // Of answers that are as large, the one that was asked for first.
        let largest = answers.into_iter().rev().max_by_key(|(bytes, _)| *bytes);
        if let Some((_, cause)) = largest {
            return (cause, asked);
        }
        let is_large = is_out_of_proportion(shortage);
        let cause = match &shortage.free_piece {
            Some(piece @ FreePiece::Unused { .. }) => Self::FreePiece(piece.clone()),
            _ if is_large => Self::SingleRequest,
            _ => Self::Capacity,
        };
        let available = shortage.available_bytes().unwrap_or(shortage.reserved_bytes);
        asked.push(Answered {
            asks: "Did a free piece have room, and nothing shows why it was not used?",
            figures: say!(
                "{} in the largest hole for it, {} requested",
                figure::bytes(shortage.fit.largest_bytes),
                requested(shortage)
            ),
            is_yes: matches!(cause, Self::FreePiece(_)),
        });
        asked.push(Answered {
            asks: "Are two requests of this size more than PyTorch could have?",
            figures: say!("{} requested, {} available", requested(shortage), figure::bytes(available)),
            is_yes: is_large,
        });
        (cause, asked)
    }
}

fn requested(shortage: &Shortage) -> Figure {
    figure::bytes(shortage.oom.requested)
}

/// The answers to the questions whether the request would have been met without some memory, and the causes that follow, with the
/// bytes of each.
fn without_memory(
    case: &Case<'_>,
    shortage: &Shortage,
    excess: Bytes,
    [failed, growing]: [Option<Bytes>; 2],
    retained: Option<&Retained>,
) -> (Vec<Answered>, Vec<(Bytes, Cause)>) {
    let enough = |bytes: Bytes| Some(bytes).filter(|&bytes| shortage.is_covered_by(bytes));
    let outside = outside(case, shortage);
    let leads = |retained: &&Retained| !other_than_retained::comes_first(case, shortage, retained);
    let held = retained.filter(leads);
    let of = |bytes: Option<Bytes>, cause: Cause| Some((enough(bytes?)?, cause));
    let questions = [
        (
            "Would it have been met if free memory were in one piece?",
            shortage.hole_bytes,
            in_pieces(case, shortage, excess),
        ),
        (
            "Would it have been met if nothing else used the device?",
            outside.map_or(Bytes::ZERO, |outside| outside.bytes),
            outside.and_then(|outside| of(Some(outside.bytes), Cause::Outside(outside))),
        ),
        (
            "Would it have been met without what attempts that failed before left?",
            failed.unwrap_or_default(),
            of(failed, Cause::FailedAttempts),
        ),
        (
            "Would it have been met without what earlier iterations left?",
            retained.map_or(Bytes::ZERO, |retained| retained.bytes),
            of(held.map(|retained| retained.bytes), Cause::Retained),
        ),
        (
            "Would it have been met if no tensor grew from iteration to iteration?",
            growing.unwrap_or_default(),
            of(growing, Cause::GrowingTensors),
        ),
    ];
    let missing = figure::bytes(shortage.lacking_bytes().unwrap_or(excess));
    let answered = |&(asks, bytes, ref answer): &(&'static str, Bytes, Option<(Bytes, Cause)>)| Answered {
        asks,
        figures: say!("{}, and {} were missing", figure::bytes(bytes), missing),
        is_yes: answer.is_some(),
    };
    let asked = questions.iter().map(answered).collect();
    (asked, questions.into_iter().filter_map(|(.., answer)| answer).collect())
}

/// The bytes of all holes, if in one piece they would have been enough, and with expandable segments they would have been in
/// one piece, as far as that can be simulated.
fn in_pieces(case: &Case<'_>, shortage: &Shortage, excess: Bytes) -> Option<(Bytes, Cause)> {
    let is_much = HOLES_SHARE <= share(shortage.hole_bytes, shortage.reserved_bytes);
    let has_piece = matches!(shortage.free_piece, Some(FreePiece::Unused { .. }));
    if 0 < excess || !is_much || has_piece {
        return None;
    }
    let simulated = Expandable::simulate(case);
    let is_met = !matches!(simulated, Some(Expandable::Fails { .. }));
    is_met.then_some((shortage.hole_bytes, Cause::Fragmentation(simulated)))
}

/// Whether two requests of this size are more than PyTorch could have: what one computes often needs a second of its size.
fn is_out_of_proportion(shortage: &Shortage) -> bool {
    let available = shortage.available_bytes().unwrap_or(shortage.reserved_bytes);
    available - shortage.oom.requested <= shortage.oom.requested
}
