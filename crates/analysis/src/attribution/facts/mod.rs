//! The facts that stacks and events state by themselves: each stack is read once for a file, and the order of events once
//! for a device.

mod activities;
mod activity_spans;
mod announced;
mod calls;
mod declared;
mod device_facts;
mod facts_by_stack;
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

pub(crate) use activities::Activity;
pub(crate) use activities::Run;
pub(crate) use announced::{Announced, AnnouncedRange};
pub(crate) use declared::Labels;
pub use declared::declared_category;
pub(crate) use device_facts::DeviceFacts;
pub use device_facts::Facts;
pub(crate) use facts_by_stack::FactsByStack;
pub(crate) use frees::free_event;
pub(crate) use leading_parameters::{SCRATCH_EVENTS, leading_parameters};
pub(crate) use stack_facts::{CodePart, StackFacts};
pub(crate) use stack_traits::StackTrait;
pub use unseen::UnseenStacks;
