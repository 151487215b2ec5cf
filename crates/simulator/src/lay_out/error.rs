//! Why requests cannot be laid out.

use oomscope_model::{DeviceId, EventIx};
use std::fmt;

/// Why requests cannot be laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayOutError {
    /// The file does not say that it is an estimate.
    NoEstimate,
    /// The file is not whole.
    Damaged,
    /// The file has values that could not be used.
    LeftOut,
    /// Others use the snapshot.
    InUse,
    /// The device already has segments, or requests that failed, so that these are not requests alone.
    HasSegments(DeviceId),
    /// Memory is asked for at an address that is in use.
    Reused(DeviceId, EventIx),
    /// No device can have as many bytes as are asked for.
    Absurd(DeviceId, EventIx),
}

impl fmt::Display for LayOutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEstimate => f.write_str("it is no estimate: the key oomscope.estimate is missing"),
            Self::Damaged => f.write_str("the file is damaged"),
            Self::LeftOut => f.write_str("parts of the file could not be used"),
            Self::InUse => f.write_str("the snapshot is in use"),
            Self::HasSegments(device) => write!(f, "{device} has segments or failed requests already"),
            Self::Reused(device, event) => {
                write!(f, "{device}: event {} asks for memory at an address that is in use", event.0)
            }
            Self::Absurd(device, event) => {
                write!(f, "{device}: event {} asks for a number of bytes that no device has", event.0)
            }
        }
    }
}

impl std::error::Error for LayOutError {}
