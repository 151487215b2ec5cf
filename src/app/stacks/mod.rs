//! Call stacks: the flame graph and the table of allocation sites.

mod change;
pub(in crate::app) mod controls;
pub(in crate::app) mod flame;
pub(in crate::app) mod panel;
pub(in crate::app) mod shown;
pub(in crate::app) mod sites;
pub(in crate::app) mod toolbar;
pub(in crate::app) mod weighing;
