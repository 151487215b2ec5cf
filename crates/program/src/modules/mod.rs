//! The modules that a forward calls, and the blocks that repeat in it.

mod blocks;
mod call_tree;
mod functions;
mod kept;
mod left;
mod places;
mod rounds;
#[cfg(test)]
mod tests;

pub(super) use blocks::repeated_blocks;
pub(super) use kept::Kept;
