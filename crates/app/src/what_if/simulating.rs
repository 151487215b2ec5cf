//! Simulations, in the background.

use crate::device::curves;
use crate::work::watch::Watch;
use crate::work::worker::Task;
use egui_plot::PlotPoint;
use oomscope_analysis::Attribution;
use oomscope_model::{DeviceId, EventIx, Moment, Recording, Timeline};
use oomscope_program::Run;
use oomscope_program::projection::{Course, Projection, Unprojected};
use oomscope_simulator::{
    Device, Fidelity, LaidSegment, Outcome, Repeating, Settings, Subject, recommended, sweep, sweep_while,
    useful_settings,
};
use std::sync::{Arc, OnceLock};

/// Settings to simulate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WhatIfRequest {
    /// The settings to try beside the recorded ones.
    pub(crate) settings: Settings,
    /// Bytes that PyTorch may reserve; as recorded if it is not given.
    pub(crate) capacity_bytes: Option<u64>,
    /// Factor on the requests of stacks that repeat: a guess at another batch size.
    pub(crate) batch: f64,
    /// Try the useful settings, too.
    pub(crate) sweeps: bool,
}

/// One simulation.
pub(crate) struct Simulated {
    pub(crate) outcome: Outcome,
    /// Reserved bytes over the moments, with few enough points to draw in every frame.
    pub(crate) reserved: Vec<PlotPoint>,
}

/// The outcomes of a request.
pub(crate) struct WhatIfResponse {
    pub(crate) fidelity: Fidelity,
    pub(crate) limit_bytes: Option<u64>,
    pub(crate) recorded_oom: Option<EventIx>,
    pub(crate) projected: Result<Course, Unprojected>,
    /// The recorded settings first, the requested ones last.
    pub(crate) rows: Vec<Simulated>,
    /// The smallest change with which everything fits.
    pub(crate) recommended: Option<usize>,
}

/// Simulates one device of a file.
#[derive(Clone)]
pub(crate) struct SimulateTask {
    recording: Recording,
    attribution: Arc<Attribution>,
    whole: Arc<OnceLock<Whole>>,
}

/// The requests of a device, with the rest of the step that failed where that can be projected.
struct Whole {
    subject: Subject,
    projection: Result<Projection, Unprojected>,
    recorded_oom: Option<EventIx>,
}

/// True if there is anything to simulate.
pub(crate) fn has_requests(timeline: &Timeline) -> bool {
    timeline.device != DeviceId::HOST && !timeline.events.is_empty()
}

impl SimulateTask {
    pub(crate) fn new(recording: Recording, attribution: Arc<Attribution>) -> Self {
        Self { recording, attribution, whole: Arc::default() }
    }

    /// The program with requests of another batch size; `None` if the batch size stays.
    fn scaled(&self, subject: &Subject, batch: f64) -> Option<Subject> {
        let timeline = self.timeline();
        // The control starts with exactly 1.
        let is_same = (batch - 1.0).abs() < f64::EPSILON;
        (!is_same).then(|| {
            let repeating = Repeating::new(timeline);
            subject.scaled(|event| if repeating.contains(timeline, event) { batch } else { 1.0 })
        })
    }

    fn subject(&self) -> &Subject {
        &self.requests().subject
    }

    /// The recording, with what is projected.
    fn timeline(&self) -> &Timeline {
        self.requests().projection.as_ref().map_or(&self.recording, |projection| &projection.recording)
    }

    fn requests(&self) -> &Whole {
        self.whole.get_or_init(|| {
            let recorded = Subject::new(&self.recording);
            let run = Run { recording: &self.recording, attribution: &self.attribution };
            let projection = Projection::of_run(run);
            let recorded_oom = recorded.recorded_oom();
            let subject = match &projection {
                Ok(projection) => projection.requests(&recorded),
                Err(_) => recorded,
            };
            Whole { subject, projection, recorded_oom }
        })
    }

    /// The device as recorded, or with the capacity of the request.
    fn device(&self, request: &WhatIfRequest) -> Device {
        let device = self.subject().device();
        match request.capacity_bytes {
            Some(bytes) => Device { capacity_bytes: Some(bytes), allowed_bytes: None, ..device },
            None => device,
        }
    }

    /// The simulated memory at a moment under the request's settings.
    pub(crate) fn layout(&self, request: &WhatIfRequest, moment: Moment) -> Vec<LaidSegment> {
        let subject = self.subject();
        let scaled = self.scaled(subject, request.batch);
        let subject = scaled.as_ref().unwrap_or(subject);
        subject.layout_at(&request.settings, &self.device(request), moment)
    }
}

impl Task for SimulateTask {
    type Request = WhatIfRequest;
    type Response = Arc<WhatIfResponse>;

    fn run(&self, request: &WhatIfRequest) -> Arc<WhatIfResponse> {
        self.simulated(request, sweep)
    }

    fn run_watched(&self, request: &WhatIfRequest, watch: &Watch) -> Option<Arc<WhatIfResponse>> {
        let simulated = self.simulated(request, |subject, settings, device| {
            let goes_on = |done| {
                watch.progress(done, settings.len());
                watch.is_wanted()
            };
            sweep_while(subject, settings, device, &goes_on).unwrap_or_default()
        });
        // What was stopped on the way lacks outcomes.
        watch.is_wanted().then_some(simulated)
    }
}

impl SimulateTask {
    fn simulated(
        &self,
        request: &WhatIfRequest,
        sweep: impl Fn(&Subject, &[Settings], &Device) -> Vec<Outcome>,
    ) -> Arc<WhatIfResponse> {
        let subject = self.subject();
        let recorded = subject.recorded_settings();
        let device = self.device(request);
        let mut settings = vec![recorded.clone()];
        let useful = if request.sweeps { useful_settings(subject, &device) } else { Vec::new() };
        for one in useful.into_iter().chain([request.settings.clone()]) {
            // Settings that are requested and useful stand last, where the user looks for them.
            settings.retain(|known| *known == *recorded || *known != one);
            if one != *recorded {
                settings.push(one);
            }
        }
        let scaled = self.scaled(subject, request.batch);
        let outcomes = sweep(scaled.as_ref().unwrap_or(subject), &settings, &device);
        let best = recommended(recorded, &outcomes);
        let best = best.and_then(|best| outcomes.iter().position(|outcome| std::ptr::eq(outcome, best)));
        let moments = self.timeline().moments();
        let rows = outcomes.into_iter().map(|outcome| Simulated {
            reserved: curves::maxima(moments, |range| outcome.reserved.max_in(range).as_f64()),
            outcome,
        });
        Arc::new(WhatIfResponse {
            fidelity: subject.fidelity(),
            limit_bytes: device.limit_bytes(),
            recorded_oom: self.requests().recorded_oom,
            projected: self.requests().projection.as_ref().map(Projection::course).map_err(|&reason| reason),
            rows: rows.collect(),
            recommended: best.filter(|_| request.sweeps),
        })
    }
}
