//! A simulator of torch's caching allocator: a recording under other settings.
//!
//! ```text
//! Timeline ── Requests (what the program asked for) ── Allocator under Settings ── Outcome
//! ```
//!
//! [`Subject::new`] reads a recording and finds out how well its own settings reproduce it
//! ([`Subject::fidelity`]). [`Subject::simulate`] gives the [`Outcome`] of other [`Settings`] on a
//! [`Device`], [`Subject::layout_at`] the memory map, [`sweep`] several outcomes at once,
//! [`recommended`] the smallest change that fits, [`smallest_capacity`] the least memory, and
//! [`Subject::scaled`] another program. docs/simulator.md has the rules and how they were checked.

mod allocator;
mod blocks;
mod counters;
mod driver;
mod error;
mod fidelity;
mod free_list;
mod infer;
mod lanes;
mod layout;
mod outcome;
mod replay;
mod requests;
mod resolve;
mod rounding;
mod rules;
mod segment_events;
mod settings;
mod start;
mod subject;
mod sweep;
mod whatif;

pub use counters::{Counters, Gauge};
pub use driver::Device;
pub use error::SettingError;
pub use fidelity::Fidelity;
pub use layout::{LaidBlock, LaidSegment};
pub use outcome::{Outcome, Reach, SimulatedOom};
pub use settings::Settings;
pub use subject::Subject;
pub use sweep::{recommended, sweep, useful_settings};
pub use whatif::{Repeating, smallest_capacity};

use segment_events::SegmentEvent;
