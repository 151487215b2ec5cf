//! What happened to a device's memory, why, and what to do about it.
//!
//! [`diagnose`] asks a list of independent detectors. Each looks at a [`Context`] and returns
//! [`Finding`]s: a statement, the figures, allocations and events that it rests on, advice, and what
//! the recording cannot show. The verdict is the first of them.
//!
//! This layer knows no text formats, no files and no windows.

mod below;
mod code;
mod context;
mod detectors;
mod finding;
mod growing;
mod inferred;
mod kept;
mod pins;
mod rounds;
mod shortage;
mod verdict;

#[cfg(test)]
mod tests;

pub use code::Code;
pub use context::{Context, Question};
pub use finding::{Advice, Evidence, Finding, Number, Role, Saving, Severity, Site, StackBytes, Value};
pub use growing::Growing;
pub use kept::Kept;
pub use shortage::Shortage;

use crate::analysis::{Attribution, MomentError, Position};
use crate::model::{DeviceId, Moment, Snapshot, Timeline};

/// A moment, and what the program was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The moment.
    pub moment: Moment,
    /// What the program was doing, and in which iteration.
    pub position: Position,
}

/// What is found about a device at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The device.
    pub device: DeviceId,
    /// The moment that this is about.
    pub at: Place,
    /// The last OOM, else the end of the recording.
    pub dump: Place,
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
/// If the moment that is asked for does not exist on the device.
pub fn diagnose(
    snapshot: &Snapshot,
    timeline: &Timeline,
    attribution: &Attribution,
    question: Question,
) -> Result<Diagnosis, MomentError> {
    let context = Context::new(snapshot, timeline, attribution, question)?;
    let mut found: Vec<Finding> = detectors::DETECTORS.iter().flat_map(|detect| detect(&context)).collect();
    let weight = |finding: &Finding| finding.saving.as_ref().map_or(0, |saving| saving.bytes);
    found.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), std::cmp::Reverse(weight(finding))));
    let mut findings = vec![verdict::verdict(&context)];
    findings.append(&mut found);
    let place = |moment| Place { moment, position: context.phases().position_at(moment) };
    let end = Moment(timeline.events.len() as u32);
    let dump = timeline.ooms.last().map_or(end, |oom| Moment::after(oom.event));
    Ok(Diagnosis { device: timeline.device, at: place(context.moment), dump: place(dump), findings })
}
