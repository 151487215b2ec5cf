//! The flame graph: the stacks that allocated memory, frame by frame.

mod layout;
mod paint;

pub use layout::{FlameItem, FlameLayout, FlameOrder, FlameRect, FlameView, flame_layout};
pub use paint::{FLAME_ROW_PX, FlamePaint};
