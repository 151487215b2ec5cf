//! Errors of selecting a device or a moment, with a way out.

use super::moment::Missing;
use crate::cli::failure::Failure;
use oomscope_analysis::MomentError;
use oomscope_model::{DeviceId, Snapshot};
use std::fmt::Display;
use std::path::Path;

/// The error that the snapshot lacks the named device.
pub(super) fn no_such_device(snapshot: &Snapshot, device: DeviceId) -> Failure {
    Failure::new(
        format_args!("device {} is not in the snapshot", device.0),
        format!("it has {}", device_list(snapshot)),
    )
}

/// The error that the snapshot of the file `name` has no device; `consequence` ends the sentence.
pub(in crate::cli) fn no_memory(name: impl Display, consequence: &str) -> Failure {
    Failure::new(
        format_args!("{name}: the snapshot holds no memory of any device{consequence}"),
        "record it on a machine with a GPU",
    )
}

/// The error that a device does not have the moment.
pub(in crate::cli) fn no_moment(file: &Path, error: MomentError) -> Failure {
    Failure::new(
        format_args!("{}: {error}", file.display()),
        "use --at peak or --at end, or an event that 'oomscope stats' counts",
    )
}

/// The error that a device does not have the moment or the range.
pub(in crate::cli) fn missing(file: &Path, missing: Missing<'_>) -> Failure {
    let hint = match missing {
        Missing::Moment(error) => return no_moment(file, error),
        Missing::Event { .. } => "use a smaller range",
        Missing::Range(_) => {
            "a range is iteration:3, phase:backward, 100..200, or a text in the name of a record_function; \
            'oomscope stats --iterations' lists iterations and phases"
        }
    };
    Failure::new(format_args!("{}: {missing}", file.display()), hint)
}

/// The error that a range of events is ambiguous, since each device counts its own events.
pub(super) fn events_of_several_devices(snapshot: &Snapshot) -> Failure {
    Failure::new(
        "events by their numbers are others on each device",
        format!("add --device ({})", device_list(snapshot)),
    )
}

/// The error that an event's number is ambiguous, since each device counts its own events.
pub(super) fn event_of_several_devices(snapshot: &Snapshot) -> Failure {
    Failure::new(
        "an event's number means another moment on each device",
        format!("add --device ({})", device_list(snapshot)),
    )
}

fn device_list(snapshot: &Snapshot) -> String {
    let names: Vec<String> = snapshot.timelines.iter().map(|t| t.device.0.to_string()).collect();
    if names.is_empty() { "no device".to_owned() } else { format!("devices {}", names.join(", ")) }
}
