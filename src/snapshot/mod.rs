//! PyTorch's snapshots: what the dicts and lists of the pickle mean, in every version since 1.12.
//!
//! [`Builder`] receives the decoder's values and turns each dict into a row as soon as it is
//! complete; [`Builder::finish`] puts the rows together as a [`Snapshot`](crate::model::Snapshot).
//!
//! This layer knows torch's keys. It does not know how the bytes were read, nor what is done with
//! the model.

mod builder;
mod containers;
mod error;
mod fields;
mod finish;
mod held;
mod keys;
mod notes;
mod records;
mod settings;

pub use builder::Builder;
pub use error::SnapshotError;
