//! Memory that a finding is about, outlined wherever it is seen.

use crate::work::by_ptr::ByPtr;
use oomscope_diagnosis::{Finding, FindingId};
use oomscope_model::{AllocId, Bytes, Moment, StackId, Timeline};
use oomscope_units as units;
use std::sync::Arc;

/// Stacks that are outlined at most: they are looked up in every frame.
const MAX_STACKS: usize = 2000;

/// The allocations of a finding.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outline {
    /// The finding's kind.
    id: FindingId,
    title: String,
    /// Their number and bytes.
    pub(crate) label: String,
    /// The moment that the finding is about.
    pub(crate) moment: Moment,
    /// Everything but them is filtered out, too.
    pub(crate) is_filter: bool,
    /// In the order of their ids.
    allocations: ByPtr<[AllocId]>,
    /// Their stacks, in the order of ids.
    stacks: Arc<[StackId]>,
}

impl Outline {
    /// The allocations of a finding about a moment.
    pub(crate) fn of(finding: &Finding, timeline: &Timeline, moment: Moment) -> Self {
        let mut allocations = finding.evidence.about.clone();
        allocations.sort_unstable();
        let bytes = allocations.iter().map(|&id| timeline.size(id)).sum::<Bytes>();
        let label = format!("{} in {}", units::bytes(bytes), units::counted(allocations.len(), "block"));
        let title = finding.title.text().to_owned();
        let mut stacks: Vec<StackId> = allocations.iter().map(|&id| timeline.stack(id)).collect();
        stacks.sort_unstable();
        stacks.dedup();
        stacks.truncate(MAX_STACKS);
        let (allocations, stacks) = (ByPtr(allocations.into()), stacks.into());
        Self { id: finding.id, title, label, moment, is_filter: true, allocations, stacks }
    }

    /// True if these are the allocations of a finding.
    pub(crate) fn is_of(&self, finding: &Finding) -> bool {
        self.id == finding.id && self.title == finding.title.text()
    }

    /// The finding's title.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// The time from the first allocation among them to the last free, as moments.
    pub(crate) fn lifetime(&self, timeline: &Timeline) -> Option<(Moment, Moment)> {
        let past_end = Moment(timeline.moments() as u32);
        let lifetimes = &timeline.lifetimes;
        let lives =
            self.allocations.iter().map(|&id| (lifetimes.start(id), lifetimes.end(id).unwrap_or(past_end)));
        lives.reduce(|(from, to), (start, end)| (from.min(start), to.max(end)))
    }

    /// True if an allocation is among them.
    pub(crate) fn contains(&self, id: AllocId) -> bool {
        self.allocations.binary_search(&id).is_ok()
    }

    /// Their stacks, in the order of ids.
    pub(crate) fn stacks(&self) -> &[StackId] {
        &self.stacks
    }

    /// All of them, in the order of their ids.
    pub(crate) fn allocations(&self) -> &ByPtr<[AllocId]> {
        &self.allocations
    }
}
