//! What part of a recording is shown and how it is measured: the view, its scales, the ticks of its axes.

mod scale;
mod ticks;
mod view;

pub use scale::Scale;
pub use ticks::{Tick, byte_ticks, event_ticks, time_ticks};
pub use view::{Axis, View};
