//! A recording with everything that remedies ask about it.

use crate::program::{Computation, Run, Workload};
use crate::simulator::{Device, Subject};

/// A recorded run, with what its program does and how its allocator behaves.
#[derive(Debug)]
pub struct Scene<'a> {
    pub(super) run: Run<'a>,
    /// The recording, ready to be simulated.
    pub(super) subject: &'a Subject,
    /// The device's memory; a capacity that the user asks about is in it.
    pub(super) device: Device,
    workload: &'a Workload<'a>,
}

impl<'a> Scene<'a> {
    /// The program of a run that can be simulated, on a device.
    pub fn new(workload: &'a Workload<'a>, subject: &'a Subject, device: Device) -> Self {
        Self { run: workload.computation.run, subject, device, workload }
    }

    /// What the program does.
    pub(super) fn workload(&self) -> &Workload<'a> {
        self.workload
    }

    /// What the program's passes compute.
    pub(super) fn computation(&self) -> &Computation<'a> {
        &self.workload().computation
    }
}
