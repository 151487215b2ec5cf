//! What the user says about every file that this process loads.

use oomscope_model::Assumed;
use std::sync::{PoisonError, RwLock};

/// What is said about every file; nothing until [`assume`].
static ASSUMED: RwLock<Option<Assumed>> = RwLock::new(None);

/// Let every snapshot that this process loads from now on have what the user says where the file does not.
pub fn assume(assumed: Assumed) {
    *ASSUMED.write().unwrap_or_else(PoisonError::into_inner) = Some(assumed);
}

/// What is said about every file that is loaded from now on.
pub fn assumed() -> Assumed {
    ASSUMED.read().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
}
