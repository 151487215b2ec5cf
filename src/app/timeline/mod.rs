//! The timeline: its panel, tools, minimap, input and the worker that paints it.

pub(in crate::app) mod brush;
pub(in crate::app) mod hover;
pub(in crate::app) mod input;
pub(in crate::app) mod minimap;
pub(in crate::app) mod panel;
pub(in crate::app) mod pictures;
pub(in crate::app) mod request;
mod share_totals;
pub(in crate::app) mod state;
mod thing;
pub(in crate::app) mod toolbar;
