//! What is projected, for pictures.

use oomscope_draw::{AfterFix, Future, TakenAs};
use oomscope_remedies::{Prediction, Predictions};
use oomscope_report::Fix;

/// What is projected behind a recording, and what the program would take with a fix.
pub fn future_of(all: &Predictions, fix: Option<&Fix>) -> Future {
    let future = Future::of(all.projected_bytes());
    let simulated = fix.and_then(|fix| fix.simulated.as_ref());
    let found = simulated.and_then(|remedy| all.remedies.iter().find(|known| known.id == remedy.id));
    match found {
        Some(found) => future.with_fix(after_fix(all, found)),
        None => future,
    }
}

/// What the program would take with one of all fixes: settings of the allocator change what is reserved, others what is requested.
pub fn after_fix(all: &Predictions, fix: &Prediction) -> AfterFix {
    let (recorded, count) = (all.recorded_stretches(), all.curve.highest().len());
    match &fix.reserved {
        Some(reserved) => AfterFix::of(reserved.highest(), TakenAs::Reserved, recorded, count),
        None => AfterFix::of(fix.curve.highest(), TakenAs::Requested, recorded, count),
    }
}
