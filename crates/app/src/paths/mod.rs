//! Paths without the system's dialogs: a field that completes folders and files, above a list of what is there.
//!
//! Folders are read on a thread of their own, since one on a network may answer late or never.

mod completion;
mod field;
mod folder;
mod list;
mod own_name;
mod picker;
mod places;

pub(crate) use own_name::own_name;
pub(crate) use picker::{Kinds, PathPicker};
pub(crate) use places::Places;
