//! The notes about a file: shared by its devices, and written down at once on a thread of their own. Knows no pane.

mod book;
mod keeper;
mod thread;

#[cfg(test)]
mod tests;

pub(crate) use book::Notebook;
pub(crate) use keeper::Keeping;
