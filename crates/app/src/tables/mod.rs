//! Lists of events, allocations, iterations and modules, and the virtual list that they are made of.

pub(crate) mod allocation_rows;
pub(crate) mod allocations;
pub(crate) mod cells;
pub(crate) mod columns;
pub(crate) mod csv_copy;
pub(crate) mod event_rows;
pub(crate) mod events;
pub(crate) mod iterations;
pub(crate) mod modules;
pub(crate) mod scroll;
pub(crate) mod virtual_list;
