//! The rest of a step in which a request failed: what the program would have asked for next, had that request been met.
//!
//! A recording of an out-of-memory error ends where its owner needs it most. A [`Projection`] is the recording with the rest of
//! the failed step behind it, so that everything that is asked of a complete recording can be asked of it.
//!
//! `failure` is the request that ended the program. An earlier iteration that came further (`earlier`), or an earlier call of a model
//! that does not train (`turns`), is the model for what follows: `counterparts` pairs the allocations of the two by their stacks, sizes and order, `sizes` tells how large each is in
//! the failed one, `left_over` what becomes of what a first iteration left, and `rest` writes the events.
//! Where nothing can be projected, [`Unprojected`] says why.
//!
//! This layer knows no words for people and no advice, and simulates nothing itself.

mod counterparts;
mod course;
mod earlier;
mod failure;
mod first;
mod left_over;
mod likeness;
mod project;
mod rest;
mod sizes;
#[cfg(test)]
mod tests;
mod turns;
mod writer;

pub use course::{AssumedOptimizer, Basis, Course, Like, Stage, Structure, Turn, TurnKind, Unprojected};
pub use project::Projection;
