//! A flame graph in a pane: zoom, hover, click, keys and menu. The panes say what its frames mean.

mod crumbs;
mod graph;
mod widget;

pub(crate) use graph::{Click, Content, Graph};
pub(crate) use widget::{Sight, ui};
