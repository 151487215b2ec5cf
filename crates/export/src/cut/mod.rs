//! A part of a recording as a recording of its own: some events, the state after them, and what remains of texts.
//!
//! [`cut`] decides what is kept; [`Cut::write`] makes a pickle of it.

mod annotations;
mod events;
mod plan;
mod range;
mod redact;
mod state;

pub use plan::{Cut, CutOptions, cut};
pub use range::DeviceRange;
pub use state::Lost;
