//! The filter: the line above all panes.

pub(in crate::app) mod bar;
