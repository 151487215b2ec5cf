//! A recording with everything that remedies ask about it.

use oomscope_model::Bytes;
use oomscope_program::projection::{Course, Projection, Unprojected};
use oomscope_program::{Computation, Run, Workload};
use oomscope_simulator::{Device, Subject};

/// A recorded run, with what its program does and how its allocator behaves.
#[derive(Debug)]
pub struct Scene<'a> {
    pub(super) run: Run<'a>,
    /// The recording, ready to be simulated.
    pub(super) subject: &'a Subject,
    /// The device's memory; a capacity that the user asks about is in it.
    pub(super) device: Device,
    workload: &'a Workload<'a>,
    /// What the rest of the step follows in which a request failed.
    pub(super) projected: Result<Course, Unprojected>,
}

impl<'a> Scene<'a> {
    /// The program of a run that can be simulated, as far as it was recorded.
    pub fn new(workload: &'a Workload<'a>, subject: &'a Subject, device: Device) -> Self {
        let projected = Err(Unprojected::Complete);
        Self { run: workload.computation.run, subject, device, workload, projected }
    }

    /// Ask something about a run whose recorded requests are a subject's, with the rest of the step that failed where that can be
    /// projected. The device is the recorded one, or has a capacity in bytes.
    pub fn with_whole_step<T>(
        workload: &Workload<'_>,
        subject: &Subject,
        capacity_bytes: Option<Bytes>,
        ask: impl FnOnce(&Scene<'_>) -> T,
    ) -> T {
        let device = subject.device().with_capacity(capacity_bytes);
        let projection = match Projection::of(&workload.computation) {
            Ok(projection) => projection,
            Err(reason) => {
                return ask(&Scene { projected: Err(reason), ..Scene::new(workload, subject, device) });
            }
        };
        let Projection { recording, attribution, course } = &projection;
        let whole = Workload::of(Run { recording, attribution });
        let subject = projection.requests(subject);
        ask(&Scene { projected: Ok(*course), ..Scene::new(&whole, &subject, device) })
    }

    /// The share by which the peak may be off since a part of the program is projected.
    pub(super) fn projection_error(&self) -> f64 {
        self.projected.as_ref().map_or(0.0, Course::error)
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
