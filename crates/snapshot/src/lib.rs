//! PyTorch's snapshots: the meaning of the pickle's dicts and lists, in every version since 1.12.
//!
//! [`Builder`] receives the decoder's values and turns each dict into a row as soon as it is
//! complete; [`Builder::finish`] puts the rows together as a [`Snapshot`](oomscope_model::Snapshot).
//!
//! This package knows torch's keys. It does not know how the bytes were read, nor how the model is used.
//!
//! ```
//! use oomscope_snapshot::load::{Input, Progress, load};
//!
//! let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample_snapshots/frag_oom.pickle");
//! let snapshot = load(&Input::File(sample.into()), &Progress::default())?;
//! let timeline = snapshot.main_timeline().ok_or("no device")?;
//! for segment in &timeline.segments.segments {
//!     println!("{:#x}: {} bytes", segment.addr, segment.size.0);
//! }
//! for event in timeline.events.indices().map(|at| timeline.events.get(at)) {
//!     println!("{} bytes with a stack of {} frames", event.size.0, snapshot.stacks.frames(event.stack).len());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod json;
pub mod load;

mod builder;
mod census;
mod containers;
mod dimensions;
mod error;
mod extent;
mod fields;
mod finish;
mod keys;
mod later;
mod lists;
mod loose;
mod memory;
mod notes;
mod open_stack;
mod originals;
mod pieces;
mod pools;
mod preview;
mod records;
mod resolve;
mod settings;
mod shapes;
mod show;
mod sink;
mod string_keys;
mod tensors;
mod traceback;
pub mod write;

pub use builder::Builder;
pub use error::SnapshotError;
#[doc(hidden)]
pub use pieces::differential::{Agreement, compare as compare_in_pieces};
pub use preview::{Outline, Preview, Seen, SeenSegments};
pub use traceback::{TracebackLine, traceback_lines};
