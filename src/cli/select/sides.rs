//! The devices and the moments of two sides.

use super::moment::NamedMoment;
use super::opened::Opened;
use super::target::{OneDevice, Selected, Target};
use super::values::{device_parser, parse_at};
use crate::cli::failure::Failure;
use clap::Args;
use oomscope_analysis::At;
use oomscope_model::DeviceId;

/// `--at` and `--device` of both sides, and of either.
#[derive(Debug, Args)]
pub(in crate::cli) struct Sides {
    /// Moment on both sides [default: peak]
    #[arg(long, value_name = "MOMENT", value_parser = parse_at)]
    at: Option<NamedMoment>,
    /// Moment of A; overrides --at
    #[arg(long, value_name = "MOMENT", value_parser = parse_at)]
    at_a: Option<NamedMoment>,
    /// Moment of B; overrides --at
    #[arg(long, value_name = "MOMENT", value_parser = parse_at)]
    at_b: Option<NamedMoment>,
    /// Device on both sides, -1 for pinned host memory [default: the one with an OOM, or most events]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = device_parser())]
    device: Option<DeviceId>,
    /// Device of A; overrides --device
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = device_parser())]
    device_a: Option<DeviceId>,
    /// Device of B; overrides --device
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = device_parser())]
    device_b: Option<DeviceId>,
}

impl Sides {
    /// Whether the user asks for different moments or devices.
    pub(in crate::cli) fn differ(&self) -> bool {
        let moments = [&self.at_a, &self.at_b].map(|at| at.as_ref().or(self.at.as_ref()));
        let devices = [self.device_a, self.device_b].map(|device| device.or(self.device));
        moments[0] != moments[1] || devices[0] != devices[1]
    }

    /// The device and the moment of a side: 0 for A, 1 for B.
    pub(in crate::cli) fn find(&self, side: usize, recording: &Opened<'_>) -> Result<Selected, Failure> {
        let (at, device) = if side == 0 { (&self.at_a, self.device_a) } else { (&self.at_b, self.device_b) };
        let target =
            Target::new(at.clone().or_else(|| self.at.clone()), OneDevice::new(device.or(self.device)));
        target.one_or(recording, None, |_| Some(At::Peak))
    }
}
