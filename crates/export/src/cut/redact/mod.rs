//! Texts without what names users, hosts and projects, which classify as before.

mod paths;
mod texts;

pub(super) use texts::Redaction;
