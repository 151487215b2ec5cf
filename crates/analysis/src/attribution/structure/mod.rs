//! Iterations and phases: how a recording is structured in time.
//!
//! A profiler's steps are iterations as it numbers them; ranges of the program's own with numbers (`step_12`) and steps that
//! the program attached to its events come next. Else an
//! iteration ends with an optimizer step and starts with the next training forward, or with the loading of its data; an
//! evaluation in between belongs to the iteration before. Without optimizer steps, each call of a model is an iteration.
//! After a forward the phase stays `forward` until something else begins, so it covers the loss; after a backward it is
//! `optimizer`, until data or a forward come.

mod course;
mod iteration_starts;
mod iterations;
mod live_memory;
#[cfg(test)]
mod live_memory_tests;
mod metadata;
mod named_steps;
mod number_from_announcements;
mod number_from_first_step;
mod numbering;
#[cfg(test)]
mod own_code_tests;
mod phase;
mod phase_builder;
mod phases;
#[cfg(test)]
mod tests;
mod without_stacks;

pub use iterations::{Iteration, Iterations};
pub use metadata::{named_module, named_step_and_phase};
pub use phase::{Phase, PhaseBasis, PhaseStart};
pub use phases::{ModelCall, Phases, Position};
