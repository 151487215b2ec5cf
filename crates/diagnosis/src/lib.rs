//! What happened to a device's memory, why, and what to do about it.
//!
//! [`diagnose`] looks at a *case*: one device at one moment, with the facts that several detectors read. From it comes an
//! *assessment*: what is retained, what grows, what pins segments, why the request failed. The verdict and a list of
//! independent detectors turn both into [`Finding`]s: a statement, the figures, allocations and events that it rests on,
//! advice, and what the recording cannot show.
//!
//! This package knows no text formats, no files and no windows.
//!
//! ```
//! use oomscope_snapshot::load::{Input, Progress, load};
//! use oomscope_analysis::{Attribution, UserRules};
//! use oomscope_diagnosis::{DiagnosisRequest, diagnose};
//! use oomscope_model::Recording;
//! use std::sync::Arc;
//!
//! let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample_snapshots/frag_oom.pickle");
//! let snapshot = Arc::new(load(&Input::File(sample.into()), &Progress::default())?);
//! let recording = Recording::main(&snapshot).ok_or("no device")?;
//! let attribution = Attribution::of(&recording, &UserRules::default());
//! let diagnosis = diagnose(&recording, &attribution, DiagnosisRequest::default())?;
//! let verdict = diagnosis.verdict().ok_or("nothing is said")?;
//! println!("{:?} by {} figures", verdict.id, verdict.evidence.numbers.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod ranks;

mod answered;
mod assessment;
mod case;
mod cause;
mod detectors;
mod expandable;
mod failed_attempt;
mod figure;
mod finding;
mod findings;
mod growing_tensors;
mod inferred;
mod left_behind;
mod oom_message;
mod pinning;
mod rank_excess;
mod retained;
mod sentence;
mod verdict;
mod words;

#[cfg(test)]
mod tests;

pub use answered::Answered;
pub use case::{CodeSites, DiagnosisRequest};
pub use figure::{Figure, Value};
pub use finding::{
    Advice, CodeRow, CodeTree, Evidence, Finding, Mark, MarkStep, Number, Role, Severity, Site, StackBytes,
};
pub use findings::{FINDINGS, FindingId, FindingKind, Need};
pub use left_behind::{LeftBehind, is_fragmentation, is_leak, left_behind};
pub use oom_message::OomMessage;
pub use sentence::Sentence;

use assessment::Assessment;
use case::Case;
use oomscope_analysis::{Attribution, MomentError, Position};
use oomscope_model::{DeviceId, Moment, Recording};
use oomscope_program::{Run, Workload};
use std::cmp::Reverse;

/// A moment, and what the program was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MomentPosition {
    /// The moment.
    pub moment: Moment,
    /// The phase and iteration of the program.
    pub position: Position,
}

/// The findings about a device at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The device.
    pub device: DeviceId,
    /// The moment that this is about.
    pub at: MomentPosition,
    /// The last OOM, else the end of the recording.
    pub dump: MomentPosition,
    /// The questions that were asked for the verdict, in their order.
    pub asked: Vec<Answered>,
    /// The verdict, then the other findings, most important first. Never empty.
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    /// The verdict.
    pub fn verdict(&self) -> Option<&Finding> {
        self.findings.first()
    }
}

/// Look at one device of a file, knowing what its allocations are for.
///
/// # Errors
/// If the requested moment does not exist on the device.
pub fn diagnose(
    recording: &Recording,
    attribution: &Attribution,
    request: DiagnosisRequest<'_>,
) -> Result<Diagnosis, MomentError> {
    diagnose_workload(&Workload::of(Run { recording, attribution }), request)
}

/// As [`diagnose`], where what the program does is known already.
///
/// # Errors
/// If the requested moment does not exist on the device.
pub fn diagnose_workload(
    workload: &Workload<'_>,
    request: DiagnosisRequest<'_>,
) -> Result<Diagnosis, MomentError> {
    let Run { recording, attribution } = workload.computation.run;
    let case = Case::new(workload, request)?;
    let assessment = Assessment::of(&case);
    let mut others = detectors::detect(&assessment);
    // The sort is stable, so findings that matter equally stay in the order of the detectors.
    others.sort_by_key(|finding| (Reverse(finding.severity), Reverse(finding.weight_bytes)));
    let (verdict, named) = verdict::verdict(&assessment, &others);
    let findings = std::iter::once(verdict).chain(others).collect();
    let position = |moment| MomentPosition { moment, position: attribution.phases.position_at(moment) };
    let end = recording.end();
    let dump = recording.ooms.last().map_or(end, |oom| Moment::after(oom.event));
    Ok(Diagnosis {
        device: recording.device,
        at: position(case.moment),
        dump: position(dump),
        asked: assessment.asked().into_iter().chain(named).collect(),
        findings,
    })
}
