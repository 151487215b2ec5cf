//! What happened to a device's memory, why, and what to do about it.
//!
//! [`diagnose`] asks a list of independent detectors. Each looks at a [`Context`] and returns
//! [`Finding`]s: a statement, the figures, allocations and events that it rests on, advice, and what
//! the recording cannot show. The verdict is the first of them.
//!
//! This layer knows no text formats, no files and no windows.

mod code;
mod context;
mod detectors;
mod finding;
mod pins;
mod settings;
mod shortage;
mod verdict;

pub use code::Code;
pub use context::{Context, Question};
pub use finding::{Advice, Evidence, Finding, Number, Saving, Severity, Site, StackBytes, Value};
pub use shortage::Shortage;

use crate::analysis::MomentError;
use crate::model::{DeviceId, Moment, Snapshot, Timeline};

/// What is found about a device at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The device.
    pub device: DeviceId,
    /// The moment.
    pub moment: Moment,
    /// The verdict, then the other findings, most important first. Never empty.
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    /// The verdict.
    pub fn verdict(&self) -> Option<&Finding> {
        self.findings.first()
    }
}

/// Look at one device of a file.
///
/// # Errors
/// If the moment that is asked for does not exist on the device.
pub fn diagnose(
    snapshot: &Snapshot,
    timeline: &Timeline,
    question: Question,
) -> Result<Diagnosis, MomentError> {
    let context = Context::new(snapshot, timeline, question)?;
    let mut found: Vec<Finding> = detectors::DETECTORS.iter().flat_map(|detect| detect(&context)).collect();
    let weight = |finding: &Finding| finding.saving.as_ref().map_or(0, |saving| saving.bytes);
    found.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), std::cmp::Reverse(weight(finding))));
    let mut findings = vec![verdict::verdict(&context)];
    findings.append(&mut found);
    Ok(Diagnosis { device: timeline.device, moment: context.moment, findings })
}
