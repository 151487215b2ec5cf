//! The snapshot in memory: columns and ids, built once and only read afterwards.
//!
//! One [`Snapshot`] holds the tables of the whole file (strings, frames, stacks, settings), and one
//! [`Timeline`] per device with its events, its final segments and everything derived from them.
//!
//! This package knows no files, no pickles, no colours and no pixels, and starts no threads of its own.
//!
//! ```
//! use oomscope_model::{Action, Anchor, DeviceId, Event, EventTable, SegmentTable, Timeline, TimelineInput};
//!
//! let mut events = EventTable::default();
//! events.push(&Event::new(Action::Alloc, 0x7f00_0000_0000, 512));
//! events.push(&Event::new(Action::FreeCompleted, 0x7f00_0000_0000, 512));
//! let (device, segments, anchor) = (DeviceId(0), SegmentTable::default(), Anchor::TraceOnly);
//! let timeline = Timeline::build(TimelineInput { device, events, segments, anchor });
//! assert_eq!(timeline.active.peak().1, 512);
//! ```

mod accelerator;
mod action;
mod address;
pub mod allocator_sizes;
mod anomalies;
mod assumed;
mod bytes;
mod census;
mod chosen_curve;
mod column;
mod continued;
mod curve;
mod estimate;
mod events;
mod frames;
mod ids;
mod lifetimes;
mod originals;
mod ranges;
mod recording;
mod rewind;
mod runs;
mod saturating;
mod segments;
mod settings;
mod snapshot;
mod sources;
mod stacks;
mod strings;
mod tensors;
mod timeline;
mod times;
mod trust;
mod trusted_bytes;

pub use accelerator::Accelerator;
pub use action::{Action, ActionNames};
pub use anomalies::{Anomalies, Anomaly};
pub use assumed::{Assumed, OwnCode};
pub use bytes::Bytes;
pub use census::{
    Census, CensusIx, CensusModule, CensusOwner, Missing, ModuleClass, NamedTensor, TensorHolder, TensorRole,
};
pub use column::CodedColumn;
pub use curve::{Curve, StepCurve};
pub use estimate::{ESTIMATE_KEY, Estimate, EstimateNote, NeededMemory};
pub use events::{Context, Event, EventTable, PoolKey};
pub use frames::{Frame, FrameTable, FxInfo};
pub use ids::{AddrId, AllocId, DeviceId, EventIx, FrameId, Moment, StackId, StrId};
pub use lifetimes::{Allocation, Lifetimes, Origin};
pub use originals::{OriginalLines, Originals};
pub use ranges::{ReservedRange, ReservedRanges};
pub use recording::Recording;
pub use saturating::{Saturating, SaturatingSum};
pub use segments::{Block, BlockState, Segment, SegmentTable};
pub use settings::{CONF_VARIABLES, Setting, SettingValue};
pub use snapshot::{Annotation, CountedPeaks, Damage, OpenIssue, Snapshot, UnknownKey};
pub use sources::Sources;
pub use stacks::StackTable;
pub use strings::{MAX_MEANT_BYTES, StringTable};
pub use tensors::{RecordedTensor, RecordedTensors, ShapeId};
pub use timeline::{Anchor, OomEvent, Timeline, TimelineInput};
pub use times::TimeIndex;
pub use trust::{DeviceTrust, Trust, Why};
pub use trusted_bytes::TrustedBytes;
