//! Work beside drawing: threads that answer requests, and values that are kept until they change.

pub(in crate::app) mod background;
pub(in crate::app) mod by_ptr;
pub(in crate::app) mod defect;
pub(in crate::app) mod memo;
pub(in crate::app) mod setup;
pub(in crate::app) mod watch;
pub(in crate::app) mod worker;
