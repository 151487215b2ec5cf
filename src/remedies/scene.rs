//! A recording with everything that remedies ask about it.

use crate::program::{Computation, Run, Workload};
use crate::simulator::{Device, Subject};
use std::sync::OnceLock;

/// A recorded run, with what its program does and how its allocator behaves.
#[derive(Debug)]
pub struct Scene<'a> {
    pub(super) run: Run<'a>,
    /// The recording, ready to be simulated.
    pub(super) subject: &'a Subject,
    /// The device's memory; a capacity that the user asks about is in it.
    pub(super) device: Device,
    workload: OnceLock<Workload<'a>>,
}

impl<'a> Scene<'a> {
    /// A run that can be simulated, on a device.
    pub fn new(run: Run<'a>, subject: &'a Subject, device: Device) -> Self {
        Self { run, subject, device, workload: OnceLock::new() }
    }

    /// What the program does.
    pub(super) fn workload(&self) -> &Workload<'a> {
        self.workload.get_or_init(|| Workload::of(self.run))
    }

    /// What the program's passes compute.
    pub(super) fn computation(&self) -> &Computation<'a> {
        &self.workload().computation
    }
}
