//! Remedies: the recorded requests as a change to the program would make them, and the peaks that follow.
//!
//! A [`Scene`] is a device's recording with what its allocations are for. The families of the register look at it and
//! make offers: a change to the program's allocations or to settings, what to write, what it costs.
//! [`predict`] applies each to the recorded [`Program`](crate::simulator::Program), adds up its requests and replays them
//! through the allocator. Two remedies together are one program to which both changes were made, in the order of the
//! registry. docs/fixes.md says what each remedy assumes, and how far predictions were off.
//!
//! This layer knows no text formats, no files and no windows.

mod activations;
mod best;
mod copies;
mod errors;
mod gradients;
mod growth;
mod leaks;
mod least;
mod offer;
mod optimizer;
mod outcome;
mod places;
mod plans;
mod precondition;
mod predict;
mod price;
mod registry;
mod scene;
mod settings;
#[cfg(test)]
mod tests;
mod trials;
mod tried;
mod validator;
mod wanted;
mod whole;

pub use best::is_worth_showing;
pub use offer::{Effort, Part};
pub use outcome::{Attributed, Figures, LargestBatch, Postponed, Prediction, Predictions, Trust};
pub use precondition::Precondition;
pub use predict::predict;
pub use price::{Allowed, Payment, Price};
pub use scene::Scene;
pub use trials::Progress;
pub use wanted::{UnknownId, Wanted, Wish, ids};
pub use whole::{predict_all, predict_all_while};
