//! The words for what fits.
//!
//! They are made here alone. Where a recording has a request that failed, an answer reaches to the end of that step if the rest of it
//! is projected; else what fits is known to get past this request, and no more.

use oomscope_simulator::{Outcome, Reach, Until};
use oomscope_units as units;

/// The words about what fits, as far as a recording reaches.
pub struct FitWords {
    /// Of one thing: `it fits`.
    pub fits: &'static str,
    /// Of one thing, before a capacity.
    pub fits_into: &'static str,
    /// Without an ending, before a capacity.
    pub fit_into: &'static str,
    /// Of what was only simulated.
    pub would_fit: &'static str,
    /// The title of a column.
    pub column: &'static str,
}

const TO_THE_END: FitWords = FitWords {
    fits: "fits",
    fits_into: "fits into",
    fit_into: "fit into",
    would_fit: "would fit",
    column: "fits",
};

const TO_THE_FAILED_REQUEST: FitWords = FitWords {
    fits: "gets past the request that failed",
    fits_into: "gets past the request that failed within",
    fit_into: "get past the request that failed within",
    would_fit: "would get past the OOM",
    column: "past OOM",
};

const TO_THE_STEPS_END: FitWords = FitWords {
    fits: "finishes the step",
    fits_into: "finishes the step within",
    fit_into: "finish the step within",
    would_fit: "would finish the step",
    column: "step fits",
};

const TO_THE_CALLS_END: FitWords = FitWords {
    fits: "finishes the call of the model",
    fits_into: "finishes the call of the model within",
    fit_into: "finish the call of the model within",
    would_fit: "would finish the call",
    column: "call fits",
};

/// The words for what reaches as far as this.
pub fn fit_words(until: Until) -> &'static FitWords {
    match until {
        Until::End => &TO_THE_END,
        Until::FailedRequest => &TO_THE_FAILED_REQUEST,
        Until::Step => &TO_THE_STEPS_END,
        Until::Call => &TO_THE_CALLS_END,
    }
}

/// The outcome in a few words: that it fits, or the request that failed, or that too much was reserved before the first.
pub fn outcome_text(outcome: &Outcome) -> String {
    let fits = fit_words(outcome.until).fits;
    match (outcome.oom, outcome.reach) {
        (Some(oom), _) => {
            format!("OOM at event {}: {} asked for", units::count(oom.event.0), bytes(oom.requested_bytes))
        }
        _ if !outcome.fits() => {
            format!("does not fit: {} reserved before the first event", bytes(outcome.peak_reserved_bytes()))
        }
        (None, Reach::RecordedOom(event)) => format!("{fits} at event {}", units::count(event.0)),
        (None, _) => fits.to_owned(),
    }
}

/// The outcome in fewer words.
pub fn outcome_in_short(outcome: &Outcome) -> String {
    match (outcome.oom, outcome.reach) {
        (Some(oom), _) => format!("OOM at event {}", units::count(oom.event.0)),
        _ if !outcome.fits() => "too much at first".to_owned(),
        (None, Reach::RecordedOom(event)) => format!("passes event {}", units::count(event.0)),
        (None, _) => fit_words(outcome.until).column.to_owned(),
    }
}

fn bytes(count: u64) -> String {
    units::bytes(i64::try_from(count).unwrap_or(i64::MAX))
}
