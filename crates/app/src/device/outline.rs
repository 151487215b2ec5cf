//! Memory that a finding is about, marked wherever it is seen.

use crate::texts;
use crate::work::by_ptr::ByPtr;
use oomscope_analysis::filter::Matches;
use oomscope_diagnosis::{Finding, FindingId};
use oomscope_draw::{Mark, MarkStep};
use oomscope_export::mark_steps;
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
    /// What they are, in a few words; else their number and bytes.
    pub(crate) label: String,
    /// The moment that the finding is about.
    pub(crate) moment: Moment,
    /// Everything but them is filtered out, too.
    pub(crate) is_filter: bool,
    /// In the order of their ids.
    allocations: ByPtr<[AllocId]>,
    /// The same as a set.
    matches: ByPtr<Matches>,
    /// The parts of them that came one after another.
    steps: Arc<[MarkStep]>,
    /// Their stacks, in the order of ids.
    stacks: Arc<[StackId]>,
}

impl Outline {
    /// The allocations of a finding about a moment.
    pub(crate) fn of(finding: &Finding, timeline: &Timeline, moment: Moment) -> Self {
        let mut allocations = finding.evidence.about.clone();
        allocations.sort_unstable();
        let sum = || {
            let bytes = allocations.iter().map(|&id| timeline.size(id)).sum::<Bytes>();
            texts::in_blocks(&units::bytes(bytes), allocations.len())
        };
        let mark = finding.mark.as_ref();
        let label = mark.map_or_else(sum, |mark| units::printable(mark.label.text()));
        let steps = mark.map(mark_steps).unwrap_or_default();
        let title = finding.title.text().to_owned();
        let mut stacks: Vec<StackId> = allocations.iter().map(|&id| timeline.stack(id)).collect();
        stacks.sort_unstable();
        stacks.dedup();
        stacks.truncate(MAX_STACKS);
        let matches = Matches::from_ids(timeline.lifetimes.len(), allocations.iter().copied());
        let (allocations, stacks) = (ByPtr(allocations.into()), stacks.into());
        let matches = ByPtr(Arc::new(matches));
        Self { id: finding.id, title, label, moment, is_filter: false, allocations, matches, steps, stacks }
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

    /// All of them, as a set.
    pub(crate) fn matches(&self) -> &ByPtr<Matches> {
        &self.matches
    }

    /// The parts of them that came one after another, in that order.
    pub(crate) fn steps(&self) -> &Arc<[MarkStep]> {
        &self.steps
    }

    /// How pictures mark them.
    pub(crate) fn mark(&self) -> Mark<'_> {
        Mark { allocations: &self.matches, label: &self.label, moment: self.moment, steps: &self.steps }
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
