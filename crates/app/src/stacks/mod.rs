//! Call stacks: the flame graph and the table of allocation sites.

mod change;
pub(crate) mod controls;
pub(crate) mod flame;
pub(crate) mod panel;
pub(crate) mod shown;
pub(crate) mod sites;
pub(crate) mod toolbar;
pub(crate) mod weighing;
