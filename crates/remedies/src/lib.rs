//! Remedies: the recorded requests as a change to the program would make them, and the peaks that follow.
//!
//! A [`Scene`] is a device's recording with what its allocations are for. The families of the register look at it and
//! make offers: a change to the program's allocations or to settings, what to write, what it costs.
//! [`predict`] applies each to the recorded [`Program`](oomscope_simulator::Program), adds up its requests and replays them
//! through the allocator. Two remedies together are one program to which both changes were made, in the order of the
//! registry. docs/fixes.md says what each remedy assumes, and how far predictions were off.
//!
//! This package knows no text formats, no files and no windows.
//!
//! ```
//! use oomscope_snapshot::load::{Input, Progress, load};
//! use oomscope_analysis::{Attribution, UserRules};
//! use oomscope_remedies::predict_all;
//! use oomscope_model::Recording;
//! use std::sync::Arc;
//!
//! let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample_snapshots/frag_oom.pickle");
//! let snapshot = Arc::new(load(&Input::File(sample.into()), &Progress::default())?);
//! let recording = Recording::main(&snapshot).ok_or("no device")?;
//! let attribution = Attribution::of(&recording, &UserRules::default());
//! let found = predict_all(&recording, &attribution, None).ok_or("no trace to change")?;
//! let plan = found.least().ok_or("nothing fits")?;
//! println!("{}: {} bytes at the peak", plan.title, plan.figures.peak_requested);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
mod own;
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

pub use activations::BatchEvents;
pub use best::is_worth_showing;
pub use offer::{Effort, Part};
pub use outcome::{Attributed, Figures, LargestBatch, Postponed, Prediction, Predictions, Trust};
pub use own::{Own, OwnOutcome};
pub use precondition::Precondition;
pub use predict::predict;
pub use price::{Allowed, Payment, Price};
pub use scene::Scene;
pub use trials::Progress;
pub use wanted::{UnknownId, Wanted, Wish, ids};
pub use whole::{predict_all, predict_all_while};
