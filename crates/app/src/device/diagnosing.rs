//! The diagnosis of a device, found in the background.

use super::attributing::AttributionCell;
use super::outline::Outline;
use crate::work::background::Background;
use crate::work::worker::{Task, WorkMode};
use eframe::egui;
use oomscope_diagnosis::{
    Advice, CodeSites, Diagnosis, DiagnosisRequest, Finding, FindingId, Role, Severity, diagnose,
};
use oomscope_model::{Bytes, Moment, Recording, StackId, Timeline};
use oomscope_report::{Answer, answer};
use std::sync::Arc;

/// A diagnosis, and the stacks that its lines of code select.
#[derive(Debug)]
pub(crate) struct DeviceReport {
    pub(crate) diagnosis: Diagnosis,
    /// For every finding, the stack with most bytes of each of its sites.
    pub(crate) site_stacks: Vec<Vec<Option<StackId>>>,
}

/// Makes the diagnosis of a device.
#[derive(Clone)]
struct DiagnoseTask {
    recording: Recording,
    attribution: AttributionCell,
}

impl Task for DiagnoseTask {
    type Request = DiagnosisRequest<'static>;
    /// An error is its text.
    type Response = Result<Arc<DeviceReport>, String>;

    fn run(&self, request: &DiagnosisRequest<'static>) -> Self::Response {
        let diagnosis = diagnose(&self.recording, &self.attribution.get(), *request);
        let diagnosis = diagnosis.map_err(|error| error.to_string())?;
        let code = CodeSites::new(self.recording.snapshot());
        let site_stacks = diagnosis.findings.iter().map(|finding| site_stacks(&code, finding)).collect();
        Ok(Arc::new(DeviceReport { diagnosis, site_stacks }))
    }
}

/// For each site of a finding, the stack with most bytes. The evidence lists stacks by bytes, so that is
/// the first one that leads to the site's line.
fn site_stacks(code: &CodeSites<'_>, finding: &Finding) -> Vec<Option<StackId>> {
    let known: Vec<(StackId, Vec<(String, i64)>)> = finding
        .evidence
        .stacks
        .iter()
        .map(|row| {
            let sites =
                code.lines(row.stack).into_iter().map(|key| code.site(key, Bytes::ZERO, 0, Role::Live));
            (row.stack, sites.map(|site| (site.file, site.line)).collect())
        })
        .collect();
    let leads_to = |file: &str, line: i64| {
        let found = known.iter().find(|(_, lines)| lines.iter().any(|(f, l)| f == file && *l == line));
        found.map(|&(stack, _)| stack)
    };
    finding.evidence.sites.iter().map(|site| leads_to(&site.file, site.line)).collect()
}

/// The diagnosis that the window asks for, and the latest answer.
pub(crate) struct Diagnosing {
    task: DiagnoseTask,
    background: Background<DiagnoseTask>,
    report: Option<Result<Arc<DeviceReport>, String>>,
    verdict: Option<Verdict>,
}

/// What the header says of the whole recording.
pub(crate) struct Verdict {
    /// The finding's kind.
    pub(crate) id: FindingId,
    pub(crate) severity: Severity,
    pub(crate) title: String,
    /// The line of code; `None` where nothing is wrong.
    pub(crate) answer: Option<Answer>,
    /// The first advice.
    pub(crate) advice: Option<Advice>,
    /// The stack of that line.
    pub(crate) stack: Option<StackId>,
    /// The moment that it is about.
    pub(crate) moment: Moment,
    /// The memory that it is about, as pictures mark it.
    pub(crate) marked: Option<Arc<Outline>>,
}

impl Verdict {
    fn of(report: &DeviceReport, timeline: &Timeline) -> Option<Self> {
        let finding = report.diagnosis.verdict()?;
        let answer = answer(finding);
        let site = answer.as_ref().and_then(|answer| answer.site);
        let stacks = report.site_stacks.first();
        Some(Self {
            id: finding.id,
            severity: finding.severity,
            title: finding.title.to_string(),
            stack: site.and_then(|site| stacks?.get(site).copied().flatten()),
            marked: finding
                .mark
                .as_ref()
                .map(|_| Arc::new(Outline::of(finding, timeline, report.diagnosis.at.moment))),
            answer,
            advice: finding.advice.first().cloned(),
            moment: report.diagnosis.at.moment,
        })
    }
}

impl Diagnosing {
    pub(crate) fn new(recording: Recording, attribution: AttributionCell) -> Self {
        let task = DiagnoseTask { recording, attribution };
        Self { task, background: Background::default(), report: None, verdict: None }
    }

    /// Make a request and take the response if it is there. Called in every frame.
    pub(crate) fn update(&mut self, ctx: &egui::Context, mode: WorkMode, request: DiagnosisRequest<'static>) {
        let task = || self.task.clone();
        self.report = self.background.ask(&request, ctx, mode, "diagnosis", task).cloned();
        // The header keeps the verdict on the whole recording while the report is about another moment.
        if let (None, Some(Ok(report))) = (request.at, &self.report)
            && self.verdict.is_none()
        {
            self.verdict = Verdict::of(report, &self.task.recording);
        }
    }

    /// The answer to the last request, or the reason why there can be none; `None` until either is known.
    pub(crate) fn report(&self) -> Option<&Result<Arc<DeviceReport>, String>> {
        self.report.as_ref()
    }

    /// The verdict on the whole recording, once it is known.
    pub(crate) fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }
}
