//! An open recording.

use super::errors::{no_memory, no_such_device};
use crate::cli::failure::Failure;
use oomscope_analysis::{Attribution, Facts, UserRules};
use oomscope_model::{DeviceId, Recording, Snapshot};
use oomscope_program::Run;
use oomscope_program::projection::{Projection, Unprojected};
use oomscope_snapshot::load::Input;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

/// A recording that was read, with the user's rules.
#[derive(Debug)]
pub(in crate::cli) struct Opened<'a> {
    pub(in crate::cli) file: &'a Path,
    pub(in crate::cli) snapshot: Arc<Snapshot>,
    pub(in crate::cli) rules: UserRules,
}

impl Opened<'_> {
    /// The name that pictures and reports show.
    pub(in crate::cli) fn name(&self) -> String {
        Input::from_arg(self.file).name()
    }

    /// A failure that names the file.
    pub(in crate::cli) fn failure(&self, message: impl Display, hint: &str) -> Failure {
        Failure::new(format_args!("{}: {message}", self.file.display()), hint)
    }

    /// The facts about all devices, from which each is attributed.
    pub(in crate::cli) fn facts(&self) -> Facts {
        Facts::of(&self.snapshot, &self.rules)
    }

    /// The categories, phases and iterations of a device.
    pub(in crate::cli) fn attribution(&self, device: &Recording) -> Arc<Attribution> {
        Arc::new(Attribution::of(device, &self.rules))
    }

    /// A device's recording with the rest of the step that failed.
    ///
    /// # Errors
    /// Why that is not known.
    pub(in crate::cli) fn projection(&self, device: &Recording) -> Result<Projection, Unprojected> {
        // Without a request that failed, what allocations are for need not be found out.
        if device.ooms.is_empty() {
            return Err(Unprojected::Complete);
        }
        Projection::of_run(Run { recording: device, attribution: &self.attribution(device) })
    }

    /// The named device, or all devices.
    pub(super) fn devices(&self, named: Option<DeviceId>) -> Result<Vec<Recording>, Failure> {
        match named {
            Some(device) => Ok(vec![self.device(device)?]),
            None => Ok(Recording::all(&self.snapshot).collect()),
        }
    }

    /// The named device, or the one to show first; `None` if the recording has no device.
    pub(super) fn device_or_main(&self, named: Option<DeviceId>) -> Result<Option<Recording>, Failure> {
        match named {
            Some(device) => self.device(device).map(Some),
            None => Ok(Recording::main(&self.snapshot)),
        }
    }

    fn device(&self, device: DeviceId) -> Result<Recording, Failure> {
        let found = Recording::of_device(&self.snapshot, device);
        found.ok_or_else(|| no_such_device(&self.snapshot, device))
    }

    /// The error that the recording holds no memory of any device.
    pub(super) fn no_memory(&self) -> Failure {
        no_memory(self.file.display(), "")
    }
}
