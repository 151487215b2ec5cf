//! The facts that stacks and events state by themselves: each stack is read once for a file, and the order of events once
//! for a device.

mod activities;
mod activity_spans;
mod announced;
mod calls;
mod declared;
mod device_facts;
mod facts_by_stack;
#[cfg(test)]
pub(crate) mod fixture;
mod frame_facts;
mod frees;
mod inputs;
mod leading_parameters;
mod own_models;
mod parts_of_calls;
mod stack_facts;
mod stack_reader;
mod stack_traits;
mod steps;
mod unseen;
mod written_parameters;

pub(in crate::analysis) use activities::Activity;
pub(in crate::analysis) use activities::Run;
pub(in crate::analysis) use announced::{Announced, AnnouncedRange};
pub(in crate::analysis) use declared::Labels;
pub use declared::declared_category;
pub(in crate::analysis) use device_facts::DeviceFacts;
pub use device_facts::Facts;
pub(in crate::analysis) use facts_by_stack::FactsByStack;
pub(in crate::analysis) use frees::free_event;
pub(in crate::analysis) use leading_parameters::{SCRATCH_EVENTS, leading_parameters};
pub(in crate::analysis) use stack_facts::{CodePart, StackFacts};
pub(in crate::analysis) use stack_traits::StackTrait;
pub use unseen::UnseenStacks;
