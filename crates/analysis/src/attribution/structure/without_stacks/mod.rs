//! Iterations and phases of recordings without stacks, between steps that torch announced.

mod alignment;
mod between_passes;
mod between_steps;
#[cfg(test)]
mod between_steps_tests;
mod flat_pass;
mod lifetimes_by_event;
mod passes;
mod step_intervals;
#[cfg(test)]
mod test_support;
mod window;

pub(super) use between_steps::phases_between_steps;
