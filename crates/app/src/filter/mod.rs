//! The filter: the line above all panes.

pub(crate) mod bar;
