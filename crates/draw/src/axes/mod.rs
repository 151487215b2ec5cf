//! The part of a recording that is shown: the view, its scale and the ticks of its axes.

mod fit_height;
mod scale;
mod ticks;
mod view;

pub use scale::Scale;
pub use ticks::{Tick, byte_ticks, event_ticks, time_ticks};
pub use view::{Axis, View};
