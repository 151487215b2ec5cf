//! The register of remedies, in the order in which those that are combined are applied: what leaves memory out comes
//! first, what changes sizes last. A remedy is one file and one line here.

use super::offer::Offer;
use super::scene::Scene;
use super::{activations, copies, gradients, leaks, optimizer, places, settings};

/// A family of remedies that are found together.
pub(super) struct Family {
    /// The ids that it may offer; `N` and `NAME=VALUE` stand for others.
    pub(super) ids: &'static [&'static str],
    /// What it offers for a recording. An id that is not known to apply is not offered.
    pub(super) offers: for<'a> fn(&'a Scene<'_>) -> Vec<Offer<'a>>,
}

/// All families.
pub(super) const FAMILIES: &[Family] = &[
    Family { ids: &["detach"], offers: leaks::offers },
    Family { ids: &["no-copy"], offers: copies::offers },
    Family { ids: &["zero-grad-none"], offers: gradients::offers },
    Family { ids: activations::IDS, offers: activations::offers },
    Family { ids: optimizer::IDS, offers: optimizer::offers },
    Family { ids: &["shard-N", "shard-N-zero1", "shard-N-zero2"], offers: places::shard },
    Family { ids: &[settings::ID], offers: settings::offers },
];
