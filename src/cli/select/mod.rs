//! The selection of a command's subject: recordings, the user's rules, a device, a moment.
//!
//! Options that several commands share are declared here once ([`Source`], [`Target`], …) and flattened
//! into the arguments of each command. They become checked values ([`Opened`], [`Selected`]) here and
//! nowhere else, so each error has one wording and one hint.

mod errors;
mod filter;
mod moment;
mod opened;
mod rules;
mod sides;
mod source;
mod target;
mod values;
mod written;

pub(super) use errors::{missing, no_memory, no_moment};
pub(super) use filter::{matches, parse_filter};
pub(super) use moment::{Missing, NamedMoment, NamedRange};
pub(super) use opened::Opened;
pub(super) use rules::RulesFile;
pub(super) use sides::Sides;
pub(super) use source::{Files, Source};
pub(super) use target::{Capacity, OneDevice, Selected, Target};
pub(super) use values::{parse_at, parse_bytes, parse_range};
pub(super) use written::{with_filters, with_moments, with_ranges};
