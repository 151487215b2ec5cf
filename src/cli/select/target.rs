//! The device and the moment that a command looks at.

use super::errors::{event_of_several_devices, events_of_several_devices, missing};
use super::moment::{Missing, NamedMoment, NamedRange};
use super::opened::Opened;
use super::values::{device_parser, parse_at, parse_bytes};
use crate::cli::failure::Failure;
use clap::Args;
use oomscope_analysis::At;
use oomscope_model::{Bytes, DeviceId, Moment, Recording, Timeline};
use std::ops::Range;

/// `--device`.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct OneDevice {
    /// Device to look at, -1 for pinned host memory [default: the one with an OOM, or most events]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = device_parser())]
    device: Option<DeviceId>,
}

/// `--at` and `--device`.
#[derive(Debug, Default, Args)]
pub(in crate::cli) struct Target {
    /// Moment to look at [default: oom, or peak if no request failed]
    #[arg(long, value_name = "MOMENT", value_parser = parse_at)]
    at: Option<NamedMoment>,
    #[command(flatten)]
    device: OneDevice,
}

/// `--capacity`.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Capacity {
    /// Memory of the device, such as 80GiB, if the recording does not state it
    #[arg(id = "capacity", long = "capacity", value_name = "SIZE", value_parser = parse_bytes)]
    pub(in crate::cli) bytes: Option<Bytes>,
}

impl Capacity {
    /// Memory of a device: as the option says or, where neither it nor the recording does, the settings.
    pub(in crate::cli) fn of(&self, device: &Recording) -> Option<Bytes> {
        self.bytes.or_else(|| device.assumed_memory())
    }
}

/// A device at a moment.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Selected {
    pub(in crate::cli) device: Recording,
    /// The moment as users name it.
    pub(in crate::cli) at: At,
    pub(in crate::cli) moment: Moment,
}

impl OneDevice {
    pub(super) fn new(device: Option<DeviceId>) -> Self {
        Self { device }
    }

    /// The named device, or the one to show first; `None` if the recording has no device.
    pub(in crate::cli) fn find(&self, recording: &Opened<'_>) -> Result<Option<Recording>, Failure> {
        recording.device_or_main(self.device)
    }

    /// The named device, or all devices, each with the events of a range, from the first to the one after the last. Devices
    /// without any are left out unless none has some. Without a range, all events.
    pub(in crate::cli) fn each_range(
        &self,
        recording: &Opened<'_>,
        range: Option<&NamedRange>,
    ) -> Result<Vec<(Recording, Range<u32>)>, Failure> {
        let devices = recording.devices(self.device)?;
        let Some(range) = range else {
            let whole = |device: &Recording| (device.clone(), 0..device.events.len() as u32);
            return Ok(devices.iter().map(whole).collect());
        };
        if range.is_of_one_device() && 1 < devices.len() {
            return Err(events_of_several_devices(&recording.snapshot));
        }
        let (mut found, mut lacking) = (Vec::new(), None);
        for device in devices {
            match range.ends(&device, || recording.attribution(&device)) {
                Ok([first, last]) => found.push((device, first..last + 1)),
                Err(error) => lacking = lacking.or(Some(error)),
            }
        }
        match lacking {
            Some(error) if found.is_empty() => Err(missing(recording.file, error)),
            _ => Ok(found),
        }
    }
}

impl Target {
    pub(super) fn new(at: Option<NamedMoment>, device: OneDevice) -> Self {
        Self { at, device }
    }

    /// True if the user named a moment.
    pub(in crate::cli) fn names_moment(&self) -> bool {
        self.at.is_some()
    }

    /// The named device, or the one to show first, at its moment.
    pub(in crate::cli) fn one(&self, recording: &Opened<'_>) -> Result<Selected, Failure> {
        let device = self.device.find(recording)?.ok_or_else(|| recording.no_memory())?;
        self.on(recording, device).map_err(|error| missing(recording.file, error))
    }

    /// [`Self::one`], where a range is shown: its peak is the moment if the user names none.
    pub(in crate::cli) fn one_in(
        &self,
        recording: &Opened<'_>,
        range: Option<&NamedRange>,
    ) -> Result<Selected, Failure> {
        let at = self.at.clone().or_else(|| range.cloned().map(NamedMoment::PeakOf));
        Self { at, device: self.device.clone() }.one(recording)
    }

    /// [`Self::one`] with a device and a moment to take where the user named none.
    pub(in crate::cli) fn one_or(
        &self,
        recording: &Opened<'_>,
        device: Option<DeviceId>,
        at: impl FnOnce(&Timeline) -> Option<At>,
    ) -> Result<Selected, Failure> {
        let wanted = device.filter(|_| self.device.device.is_none());
        let device = match wanted.and_then(|device| Recording::of_device(&recording.snapshot, device)) {
            Some(device) => device,
            None => self.device.find(recording)?.ok_or_else(|| recording.no_memory())?,
        };
        self.on_or(recording, device, at).map_err(|error| missing(recording.file, error))
    }

    /// The named device, or all devices, without a moment.
    pub(in crate::cli) fn devices(&self, recording: &Opened<'_>) -> Result<Vec<Recording>, Failure> {
        recording.devices(self.device.device)
    }

    /// The named device, or all devices, each at its moment. Devices without the moment are left out unless
    /// none has it.
    pub(in crate::cli) fn each(&self, recording: &Opened<'_>) -> Result<Vec<Selected>, Failure> {
        let (mut selected, mut lacking) = (Vec::new(), None);
        for device in self.devices(recording)? {
            match self.on(recording, device) {
                Ok(found) => selected.push(found),
                Err(error) => lacking = lacking.or(Some(error)),
            }
        }
        match lacking {
            Some(error) if selected.is_empty() => Err(missing(recording.file, error)),
            _ => Ok(selected),
        }
    }

    /// The error that events were named by numbers, which each of several devices counts for itself.
    pub(in crate::cli) fn ambiguous(recording: &Opened<'_>) -> Failure {
        event_of_several_devices(&recording.snapshot)
    }

    /// [`Self::each`] for commands that show devices side by side. An event's number is refused if there are
    /// several devices, on which it would mean unrelated moments.
    pub(in crate::cli) fn each_at_same(&self, recording: &Opened<'_>) -> Result<Vec<Selected>, Failure> {
        if self.at.as_ref().is_some_and(NamedMoment::is_of_one_device) && 1 < self.devices(recording)?.len() {
            return Err(event_of_several_devices(&recording.snapshot));
        }
        self.each(recording)
    }

    fn on(&self, recording: &Opened<'_>, device: Recording) -> Result<Selected, Missing<'_>> {
        self.on_or(recording, device, |_| None)
    }

    /// A device at the moment that the user names, else at the one that `at` takes, else at its OOM or peak.
    fn on_or(
        &self,
        recording: &Opened<'_>,
        device: Recording,
        at: impl FnOnce(&Timeline) -> Option<At>,
    ) -> Result<Selected, Missing<'_>> {
        let at = match &self.at {
            Some(named) => named.find(&device, || recording.attribution(&device))?,
            None => at(&device).unwrap_or_else(|| At::oom_or_peak(&device)),
        };
        let moment = at.moment(&device).map_err(Missing::Moment)?;
        Ok(Selected { device, at, moment })
    }
}
