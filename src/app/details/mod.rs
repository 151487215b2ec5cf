//! The right side: facts about the selection, its stack and site, and the way to an editor.

pub(in crate::app) mod allocation_facts;
pub(in crate::app) mod allocation_view;
pub(in crate::app) mod contributors;
mod contributors_view;
pub(in crate::app) mod editor;
pub(in crate::app) mod facts;
pub(in crate::app) mod panel;
mod segment_facts;
mod segment_view;
mod site_facts;
pub(in crate::app) mod site_view;
pub(in crate::app) mod stack_view;
pub(in crate::app) mod state;
