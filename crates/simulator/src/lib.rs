//! A simulator of torch's caching allocator: a recording under other settings.
//!
//! ```text
//! Timeline ── Requests (what the program asked for) ── Allocator under Settings ── Outcome
//! ```
//!
//! [`Subject::new`] reads a recording and finds out how well its own settings reproduce it
//! ([`Subject::fidelity`]). [`Subject::simulate`] gives the [`Outcome`] of other [`Settings`] on a
//! [`Device`], [`Subject::layout_at`] the segment map, [`sweep`] several outcomes at once,
//! [`recommended`] the smallest change that fits, [`smallest_capacity`] the least memory, and
//! [`Subject::scaled`] and [`Subject::simulate_program`] another program. [`lay_out`] makes a recording of requests that no device
//! met. docs/fixes.md has the rules and how they were checked.
//!
//! This package knows no text formats, no files, no windows and no categories.
//!
//! ```
//! use oomscope_snapshot::load::{Input, Progress, load};
//! use oomscope_simulator::{Settings, Subject};
//! use oomscope_model::Recording;
//! use std::sync::Arc;
//!
//! let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample_snapshots/frag_oom.pickle");
//! let snapshot = Arc::new(load(&Input::File(sample.into()), &Progress::default())?);
//! let recording = Recording::main(&snapshot).ok_or("no device")?;
//! let subject = Subject::new(&recording);
//! let mut settings = subject.recorded_settings().clone();
//! settings.set("expandable_segments", "True")?;
//! let outcome = subject.simulate(&settings, &subject.device());
//! println!("{} bytes would be reserved, fits: {}", outcome.peak_reserved_bytes(), outcome.fits());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod allocator;
mod inference;
mod lay_out;
mod program;
mod replay;
mod requests;
mod settings;
mod smallest_capacity;
mod subject;
mod sweep;
mod until;

pub use allocator::{Counters, Gauge, LaidBlock, LaidSegment};
pub use lay_out::{LaidOut, LayOutError, lay_out, note_needed};
pub use program::{Added, FailedRequest, Peak, Point, Profile, Program, Row};
pub use replay::{Fidelity, Outcome, Reach, SimulatedOom, Statistics, margin_bytes};
pub use settings::{Device, ExpandableSegments, Ignored, SettingError, Settings};
pub use smallest_capacity::smallest_capacity;
pub use subject::Subject;
pub use sweep::{recommended, sweep, useful_changes, useful_settings};
pub use until::Until;
