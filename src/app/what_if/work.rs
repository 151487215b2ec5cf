//! Simulations, in the background.

use crate::app::worker::Task;
use crate::draw::totals;
use crate::model::{DeviceId, EventIx, Moment, Snapshot, Timeline};
use crate::simulator::{
    Device, Fidelity, LaidSegment, Outcome, Repeating, Settings, Subject, recommended, sweep, useful_settings,
};
use egui_plot::PlotPoint;
use std::sync::{Arc, OnceLock};

/// Points of a curve: more than most windows have columns.
const MAX_CURVE_POINTS: usize = 2000;

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct Question {
    /// The settings to try beside the recorded ones.
    pub(in crate::app) settings: Settings,
    /// What PyTorch may reserve; as recorded where it is not given.
    pub(in crate::app) capacity_bytes: Option<u64>,
    /// What the requests of stacks that repeat are multiplied by.
    pub(in crate::app) batch: f64,
    /// Whether to try the useful settings, too.
    pub(in crate::app) sweeps: bool,
}

/// One simulation.
pub(in crate::app) struct Simulated {
    pub(in crate::app) outcome: Outcome,
    /// Reserved bytes over the moments, with few enough points to draw in every frame.
    pub(in crate::app) reserved: Vec<PlotPoint>,
}

/// What came of a question.
pub(in crate::app) struct Answer {
    pub(in crate::app) fidelity: Fidelity,
    pub(in crate::app) limit_bytes: Option<u64>,
    pub(in crate::app) recorded_oom: Option<EventIx>,
    /// The recorded settings first, the wanted ones last.
    pub(in crate::app) rows: Vec<Simulated>,
    /// The smallest change with which everything fits.
    pub(in crate::app) recommended: Option<usize>,
}

/// Simulates one device of a file.
#[derive(Clone)]
pub(in crate::app) struct Simulator {
    snapshot: Arc<Snapshot>,
    at: usize,
    subject: Arc<OnceLock<Subject>>,
}

/// Whether there is anything to simulate.
pub(in crate::app) fn has_requests(timeline: &Timeline) -> bool {
    timeline.device != DeviceId::HOST && !timeline.events.is_empty()
}

impl Simulator {
    pub(in crate::app) fn new(snapshot: Arc<Snapshot>, at: usize) -> Self {
        Self { snapshot, at, subject: Arc::default() }
    }

    fn timeline(&self) -> &Timeline {
        &self.snapshot.timelines[self.at]
    }

    /// The program with requests of another batch size; `None` where they stay.
    fn scaled(&self, subject: &Subject, batch: f64) -> Option<Subject> {
        let timeline = self.timeline();
        // Exactly 1 is what the control starts with.
        let is_same = (batch - 1.0).abs() < f64::EPSILON;
        (!is_same).then(|| {
            let repeating = Repeating::new(timeline);
            subject.scaled(|event| if repeating.contains(timeline, event) { batch } else { 1.0 })
        })
    }
}

impl Simulator {
    fn subject(&self) -> &Subject {
        self.subject.get_or_init(|| Subject::new(&self.snapshot, self.timeline()))
    }

    /// What PyTorch may reserve, as recorded or as the question says.
    fn device(&self, question: &Question) -> Device {
        let device = self.subject().device();
        match question.capacity_bytes {
            Some(bytes) => Device { capacity_bytes: Some(bytes), allowed_bytes: None, ..device },
            None => device,
        }
    }

    /// The simulated memory at a moment under the question's settings.
    pub(in crate::app) fn layout(&self, question: &Question, moment: Moment) -> Vec<LaidSegment> {
        let subject = self.subject();
        let scaled = self.scaled(subject, question.batch);
        let subject = scaled.as_ref().unwrap_or(subject);
        subject.layout_at(&question.settings, &self.device(question), moment)
    }
}

impl Task for Simulator {
    type Wish = Question;
    type Done = Arc<Answer>;

    fn run(&self, question: &Question) -> Arc<Answer> {
        let subject = self.subject();
        let recorded = subject.recorded_settings();
        let device = self.device(question);
        let mut settings = vec![recorded.clone()];
        let useful = if question.sweeps { useful_settings(recorded, &device) } else { Vec::new() };
        for one in useful.into_iter().chain([question.settings.clone()]) {
            settings.retain(|known| *known == *recorded || *known != one);
            if one != *recorded {
                settings.push(one);
            }
        }
        let scaled = self.scaled(subject, question.batch);
        let outcomes = sweep(scaled.as_ref().unwrap_or(subject), &settings, &device);
        let best = recommended(recorded, &outcomes);
        let best = best.and_then(|best| outcomes.iter().position(|outcome| std::ptr::eq(outcome, best)));
        let moments = self.timeline().moments();
        let rows = outcomes.into_iter().map(|outcome| Simulated {
            reserved: totals::ranges(moments, MAX_CURVE_POINTS)
                .map(|range| PlotPoint::new(range.start as f64, outcome.reserved.max_in(range) as f64))
                .collect(),
            outcome,
        });
        Arc::new(Answer {
            fidelity: subject.fidelity(),
            limit_bytes: device.limit_bytes(),
            recorded_oom: subject.recorded_oom(),
            rows: rows.collect(),
            recommended: best.filter(|_| question.sweeps),
        })
    }
}
