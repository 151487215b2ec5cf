//! Work beside drawing: threads that answer requests, and values that are kept until they change.

pub(crate) mod background;
pub(crate) mod by_ptr;
pub(crate) mod defect;
pub(crate) mod memo;
pub(crate) mod setup;
pub(crate) mod watch;
pub(crate) mod worker;
