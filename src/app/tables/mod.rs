//! Lists of events, allocations, iterations and modules, and the virtual list that they are made of.

pub(in crate::app) mod allocation_rows;
pub(in crate::app) mod allocations;
pub(in crate::app) mod cells;
pub(in crate::app) mod columns;
pub(in crate::app) mod csv_copy;
pub(in crate::app) mod event_rows;
pub(in crate::app) mod events;
pub(in crate::app) mod iterations;
pub(in crate::app) mod modules;
pub(in crate::app) mod scroll;
pub(in crate::app) mod virtual_list;
