//! Tables: one file and one line in [`TABLES`] each.

mod allocations;
mod blocks;
mod events;
mod frames;
mod memory_state;
mod modules;
mod ranges;
mod rows;
mod segments;
mod stacks;
mod table;
mod used_stacks;

pub use table::Table;

/// All tables, in the order of the documentation.
pub const TABLES: [&Table; 8] = [
    &events::TABLE,
    &allocations::TABLE,
    &blocks::TABLE,
    &segments::TABLE,
    &stacks::TABLE,
    &frames::TABLE,
    &ranges::TABLE,
    &modules::TABLE,
];

#[cfg(test)]
mod tests;
