//! One of two sides that are compared.

use crate::Attribution;
use oomscope_model::{Moment, Recording};

/// One side: a device of a file at a moment. Both sides may be of one file.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The device.
    pub recording: &'a Recording,
    /// Its categories, phases and iterations.
    pub attribution: &'a Attribution,
    /// The moment.
    pub moment: Moment,
}
