//! What is projected, for pictures.

use oomscope_draw::Future;
use oomscope_remedies::Predictions;
use oomscope_report::Fix;

/// What is projected behind a recording, and what the program would request with a fix.
pub fn future_of(all: &Predictions, fix: Option<&Fix>) -> Future {
    let future = Future::of(all.projected_bytes());
    // A setting of the allocator changes what is reserved, not what is requested.
    let simulated = fix.and_then(|fix| fix.simulated.as_ref()).filter(|remedy| !remedy.is_setting);
    let found = simulated.and_then(|remedy| all.remedies.iter().find(|known| known.id == remedy.id));
    match found {
        Some(found) => future.with_fix(found.curve.highest(), all.recorded_stretches()),
        None => future,
    }
}
