//! The timeline: its panel, tools, minimap, input and the worker that paints it.

pub(crate) mod brush;
pub(crate) mod hover;
pub(crate) mod input;
pub(crate) mod minimap;
pub(crate) mod panel;
pub(crate) mod pictures;
pub(crate) mod request;
mod share_totals;
pub(crate) mod state;
mod thing;
pub(crate) mod toolbar;
