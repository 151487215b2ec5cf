//! The diagnosis of a device, found in the background.

use crate::analysis::At;
use crate::app::attribution::Finder;
use crate::app::background::Background;
use crate::app::worker::{RasterMode, Task};
use crate::diagnosis::{Code, Diagnosis, Finding, Question, Role, Severity, diagnose};
use crate::model::{Snapshot, StackId};
use eframe::egui;
use std::sync::Arc;

/// A diagnosis, and what its lines of code select.
#[derive(Debug)]
pub(in crate::app) struct Report {
    pub(in crate::app) diagnosis: Diagnosis,
    /// For every finding, the stack with most bytes of each of its sites.
    pub(in crate::app) site_stacks: Vec<Vec<Option<StackId>>>,
}

/// Asks the diagnosis about a device.
#[derive(Clone)]
struct Doctor {
    snapshot: Arc<Snapshot>,
    at: usize,
    finder: Finder,
}

impl Task for Doctor {
    type Wish = Question;
    /// Why there is none, where there is none.
    type Done = Result<Arc<Report>, String>;

    fn run(&self, question: &Question) -> Self::Done {
        let timeline = &self.snapshot.timelines[self.at];
        let diagnosis = diagnose(&self.snapshot, timeline, &self.finder.get(), *question);
        let diagnosis = diagnosis.map_err(|error| error.to_string())?;
        let code = Code::new(&self.snapshot);
        let site_stacks = diagnosis.findings.iter().map(|finding| site_stacks(&code, finding)).collect();
        Ok(Arc::new(Report { diagnosis, site_stacks }))
    }
}

/// The evidence lists stacks by bytes, so that the first that leads to a line has most of them.
fn site_stacks(code: &Code<'_>, finding: &Finding) -> Vec<Option<StackId>> {
    let known: Vec<(StackId, Vec<(String, i64)>)> = finding
        .evidence
        .stacks
        .iter()
        .map(|row| {
            let sites = code.lines(row.stack).into_iter().map(|key| code.site(key, 0, 0, Role::Live));
            (row.stack, sites.map(|site| (site.file, site.line)).collect())
        })
        .collect();
    let leads_to = |file: &str, line: i64| {
        let found = known.iter().find(|(_, lines)| lines.iter().any(|(f, l)| f == file && *l == line));
        found.map(|&(stack, _)| stack)
    };
    finding.evidence.sites.iter().map(|site| leads_to(&site.file, site.line)).collect()
}

/// The questions that the window asks, and the latest answer.
pub(in crate::app) struct Diagnosing {
    doctor: Doctor,
    background: Background<Doctor>,
    /// The moment that is asked about; without one, the last OOM, else the peak.
    pub(in crate::app) at: Option<At>,
    verdict: Option<(Severity, String)>,
}

impl Diagnosing {
    pub(in crate::app) fn new(snapshot: Arc<Snapshot>, at: usize, finder: Finder) -> Self {
        let doctor = Doctor { snapshot, at, finder };
        Self { doctor, background: Background::default(), at: None, verdict: None }
    }

    /// The answer to the present question once it is there. To be asked in every frame.
    pub(in crate::app) fn get(
        &mut self,
        ctx: &egui::Context,
        mode: RasterMode,
        device_memory: Option<i64>,
    ) -> Option<Result<Arc<Report>, String>> {
        let question = self.question(device_memory);
        let doctor = || self.doctor.clone();
        let answer = self.background.ask(&question, ctx, mode, "diagnosis", doctor).cloned();
        if let (None, Some(Ok(report))) = (self.at, &answer)
            && self.verdict.is_none()
        {
            let verdict = report.diagnosis.verdict();
            self.verdict = verdict.map(|finding| (finding.severity, finding.title.clone()));
        }
        answer
    }

    /// What is asked.
    pub(in crate::app) fn question(&self, device_memory: Option<i64>) -> Question {
        Question { at: self.at, device_memory }
    }

    /// What is wrong with the whole recording, once it is known.
    pub(in crate::app) fn verdict(&self) -> Option<&(Severity, String)> {
        self.verdict.as_ref()
    }
}
