//! One request out of all proportion, in words.

use super::failed_request::with_rounding;
use crate::case::{Case, Shortage};
use crate::figure;
use crate::finding::Finding;
use crate::sentence::{Sentence, say};
use oomscope_model::Bytes;

/// How the request compares with what there is.
pub(super) fn title(shortage: &Shortage) -> Sentence {
    let requested = figure::bytes(shortage.oom.requested);
    let available = shortage.available_bytes().unwrap_or(shortage.reserved_bytes);
    if available < shortage.oom.requested {
        say!("one request of {} is larger than all that PyTorch could have", requested)
    } else {
        let share = figure::share(shortage.oom.requested, available);
        say!("one request of {} is {} of what PyTorch could have", requested, share)
    }
}

/// Describe how the request compares with the memory in use, and how to make it smaller.
pub(super) fn describe(finding: &mut Finding, case: &Case<'_>, shortage: &Shortage) {
    let (requested, active) = (shortage.oom.requested, shortage.active_bytes);
    let largest = case.live.first().map_or(Bytes::ZERO, |a| a.size);
    finding.because(say!(
        "{} are in use{}, and the largest of them has {}.",
        figure::bytes(active),
        with_rounding(case, shortage),
        figure::bytes(largest)
    ));
    finding.evidence.bytes("largest_live_bytes", "largest allocation in use", largest);
    finding.advise("Look at the shape that the first line asks for: an N × N matrix (attention scores, pairwise distances), a broadcast that was not meant, a one-hot of a large vocabulary, or a wrong dimension. Where the shape is meant, a smaller batch or length makes it smaller.");
    finding.advise("Compute it in chunks, or with a fused operation that never holds it whole (F.scaled_dot_product_attention for attention; torch.cdist in blocks; a loop over slices).");
    finding.weighs(requested);
    finding.confirm("Print the shapes of the operands just before the line.");
    finding.limit("The recording has the size of the request, not its shape.");
}
