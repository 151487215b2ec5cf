//! The right side: facts about the selection, its stack and site, and the way to an editor.

pub(crate) mod allocation_facts;
pub(crate) mod allocation_view;
pub(crate) mod contributors;
mod contributors_view;
pub(crate) mod editor;
pub(crate) mod facts;
pub(crate) mod panel;
mod segment_facts;
mod segment_view;
mod site_facts;
pub(crate) mod site_view;
pub(crate) mod stack_view;
pub(crate) mod state;
