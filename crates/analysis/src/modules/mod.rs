//! Memory by module: parameters, gradients, optimizer state and activations by the path of modules that made them.
//!
//! A stack shows a module by `Module.__call__` around its `forward` (`call_path.rs`), or by the constructor that made a
//! parameter. Where class names are not recorded, a module is known by its `forward` and by the line that calls it; those
//! that one line calls in turn share a row, and `calls.rs` tells them apart by the order of allocations within a pass.
//! What no stack shows, metadata may name (`named.rs`). Where the program itself said its modules, rows are these, by their paths
//! (`real.rs`). Gradients and state have no stack of a module: `pairing.rs` takes them for
//! those of the only module with parameters of their size. The rest is of no known module.

mod call_path;
mod calls;
mod labels;
mod live;
mod named;
mod pairing;
mod passes;
mod places;
mod reach;
mod real;
mod table;
mod tree;

#[cfg(test)]
mod real_tests;
#[cfg(test)]
mod tests;

pub use labels::module_labels;
pub use live::MODULE_COLUMNS;
pub(crate) use table::placed_modules;
pub use table::{ModuleBytes, ModulePlace, ModuleRow, ModuleTable, module_table};
