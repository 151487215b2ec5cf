//! The case to diagnose: one device at one moment, with the facts that detectors share. Nothing here is a conclusion.

mod callers;
mod code_sites;
mod largest;
mod own_tree;
mod parts;
mod repetitions;
mod shortage;
mod where_free;

pub(super) use callers::{Among, Caller, callers_of, leading, main_caller};
pub use code_sites::CodeSites;
pub(super) use code_sites::{add_sites, by_stack};
pub(super) use largest::largest_by_repetition;
pub(super) use own_tree::own_tree;
pub(super) use parts::Parts;
pub(super) use repetitions::Noun;
pub(super) use shortage::Shortage;
pub(super) use where_free::FreePiece;

use super::finding::{Severity, StackBytes};
use super::oom_message::OomMessage;
use super::rank_excess::RankExcess;
use super::words::Words;
use oomscope_analysis::segment_state::{Content, SegmentIndex, SegmentState};
use oomscope_analysis::{
    At, Attribution, Basis, Category, CategoryBytes, MomentError, Phase, Phases, live_at,
};
use oomscope_model::{AllocId, Allocation, Bytes, EventIx, Moment, OomEvent, Recording};
use oomscope_program::share::WORTH;
use oomscope_program::{Run, Sizes, Workload};
use oomscope_simulator::{ExpandableSegments, Settings};
use repetitions::Repetitions;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The question that a diagnosis answers, besides the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiagnosisRequest<'a> {
    /// The moment; without one, the last OOM, else the peak.
    pub at: Option<At>,
    /// Bytes of the device's memory, which no recording states.
    pub device_memory: Option<Bytes>,
    /// PyTorch's own exception, which states it as well.
    pub message: Option<OomMessage>,
    /// What the device has more than the other ranks of its job, where they are known and it is an outlier.
    pub ranks: Option<&'a RankExcess>,
}

/// One device at one moment.
#[derive(Debug)]
pub(super) struct Case<'a> {
    /// The device.
    pub(super) recording: &'a Recording,
    /// What the program does.
    pub(super) workload: &'a Workload<'a>,
    /// The moment.
    pub(super) moment: Moment,
    /// Bytes of the device's memory, if the user, the exception or the recorder said.
    pub(super) device_memory: Option<Bytes>,
    /// PyTorch's own exception, if the user gave it.
    pub(super) message: Option<OomMessage>,
    /// What it has more than the other ranks, if that was asked for.
    pub(super) ranks: Option<&'a RankExcess>,
    /// Lines of code.
    pub(super) code: CodeSites<'a>,
    /// The live allocations, largest first.
    pub(super) live: Vec<Allocation>,
    live_bytes: Bytes,
    /// The segment map.
    pub(super) state: SegmentState,
    /// What things are called on its kind of device.
    pub(super) words: Words,
    /// The request that failed at the moment, if one did.
    pub(super) shortage: Option<Shortage>,
    /// Categories, iterations and phases.
    pub(super) attribution: &'a Attribution,
    /// The repetitions of the program.
    pub(super) repetitions: Repetitions,
    /// The live allocations by category. Several detectors ask, so they are added up once.
    by_category: Vec<CategoryBytes>,
}

impl<'a> Case<'a> {
    /// Look at a device, knowing what its allocations are for.
    ///
    /// # Errors
    /// If the moment does not exist.
    pub(super) fn new(
        workload: &'a Workload<'a>,
        request: DiagnosisRequest<'a>,
    ) -> Result<Self, MomentError> {
        let Run { recording, attribution } = workload.computation.run;
        let snapshot = recording.snapshot();
        let moment = request.at.unwrap_or_else(|| At::oom_or_peak(recording)).moment(recording)?;
        let index = SegmentIndex::new(recording);
        let state = index.at(recording, moment);
        let oom = recording.ooms.iter().find(|oom| Moment::after(oom.event) == moment);
        let shortage = oom.map(|&oom: &OomEvent| Shortage::new(recording, &index, &state, oom));
        // The text of another failure may be of another device.
        let is_about =
            |of: &Shortage, message: &OomMessage| message.is_about(of.oom.requested, of.reserved_bytes);
        let about =
            request.message.filter(|message| shortage.as_ref().is_some_and(|of| is_about(of, message)));
        let stated = about.and_then(|message| message.capacity_bytes);
        let live = live_at(recording, moment);
        let by_category = attribution.categories.bytes_of(live.iter().map(|a| (a.id, a.size)));
        Ok(Self {
            recording,
            workload,
            moment,
            words: Words::of(snapshot.accelerator()),
            device_memory: request
                .device_memory
                .or(stated)
                .or(snapshot.device_memory(recording.device))
                .or_else(|| recording.assumed_memory()),
            message: request.message,
            ranks: request.ranks,
            code: CodeSites::new(snapshot),
            live_bytes: live.iter().map(|a| a.size).sum::<Bytes>(),
            live,
            state,
            shortage,
            repetitions: Repetitions::of(recording, &attribution.phases),
            attribution,
            by_category,
        })
    }

    /// Whether the moment is an OOM.
    pub(super) fn is_oom(&self) -> bool {
        self.shortage.is_some()
    }

    /// Whether allocations of one size count as made by the same code: nothing has a stack, but torch announced the
    /// steps that separate iterations.
    pub(super) fn goes_by_size(&self) -> bool {
        self.recording.snapshot().frames.is_empty() && self.phases().has_announced_steps()
    }

    /// Whether expandable segments are in effect, and so whether they may be advised.
    pub(super) fn expandable_segments(&self) -> ExpandableSegments {
        ExpandableSegments::of(self.recording)
    }

    /// The allocator's settings, as far as they are in effect.
    pub(super) fn settings(&self) -> Settings {
        Settings::in_effect(self.recording)
    }

    /// What an allocation is for.
    pub(super) fn category(&self, id: AllocId) -> Category {
        self.attribution.categories.get(id)
    }

    /// The live allocations of a category, largest first.
    pub(super) fn live_of(&self, category: Category) -> impl Iterator<Item = &Allocation> {
        self.live.iter().filter(move |a| self.category(a.id) == category)
    }

    /// Those of some allocations that are live, largest first.
    pub(super) fn among_live(&self, ids: &[AllocId]) -> Vec<&Allocation> {
        let wanted: BTreeSet<AllocId> = ids.iter().copied().collect();
        self.live.iter().filter(|a| wanted.contains(&a.id)).collect()
    }

    /// How many of some allocations there are of each size.
    pub(super) fn sizes<'b>(&self, allocations: impl IntoIterator<Item = &'b Allocation>) -> Sizes {
        Sizes::of(&self.workload.computation.run, allocations.into_iter().map(|a| a.id))
    }

    /// The repetition that made an allocation; `None` before the first.
    pub(super) fn repetition_of(&self, a: &Allocation) -> Option<usize> {
        self.repetitions.index_of(a.alloc_event()?)
    }

    /// The first events of the phases of a kind that began before the moment, in order.
    pub(super) fn starts_of(&self, phase: Phase) -> impl DoubleEndedIterator<Item = EventIx> {
        let starts = self.phases().phases.iter().filter(move |start| start.phase == phase);
        starts.map(|start| start.event).filter(|event| event.0 < self.moment.0)
    }

    /// Requested bytes of all live allocations.
    pub(super) fn live_bytes(&self) -> Bytes {
        self.live_bytes
    }

    /// The live bytes of each category, in the order of [`Category::ALL`]. Categories without bytes are left out.
    pub(super) fn by_category(&self) -> &[CategoryBytes] {
        &self.by_category
    }

    /// Requested bytes of the live allocations of a category.
    pub(super) fn bytes_of(&self, category: Category) -> Bytes {
        self.of_category(category).map_or(Bytes::ZERO, |of| of.bytes)
    }

    /// Requested bytes of the live allocations of a category which is only inferred.
    pub(super) fn inferred_bytes_of(&self, category: Category) -> Bytes {
        self.of_category(category).map_or(Bytes::ZERO, |of| of.inferred_bytes)
    }

    fn of_category(&self, category: Category) -> Option<&CategoryBytes> {
        self.by_category.iter().find(|of| of.category == category)
    }

    /// Requested bytes of the allocations whose categories are only inferred.
    pub(super) fn inferred_bytes<'b>(&self, allocations: impl IntoIterator<Item = &'b Allocation>) -> Bytes {
        let categories = &self.attribution.categories;
        let inferred = allocations.into_iter().filter(|a| categories.basis(a.id) == Basis::Inferred);
        inferred.map(|a| a.size).sum::<Bytes>()
    }

    /// The blocks that the program has given back and that wait for a stream.
    pub(super) fn awaiting(&self) -> BTreeSet<AllocId> {
        let waiting = self.state.parts.iter().filter_map(|part| match part.content {
            Content::Awaiting(id) => id,
            _ => None,
        });
        waiting.collect()
    }

    /// The live bytes of each category that has some, most first.
    pub(super) fn largest_categories(&self) -> Vec<CategoryBytes> {
        let mut categories: Vec<CategoryBytes> =
            self.by_category.iter().filter(|of| 0 < of.bytes).copied().collect();
        categories.sort_by_key(|of| Reverse(of.bytes));
        categories
    }

    /// Live bytes of parameters, optimizer state and gradients, which a model in training takes whatever the batch. No
    /// more gradients than parameters count: the others are on their way through the graph.
    pub(super) fn fixed_bytes(&self) -> Bytes {
        let parameters = self.bytes_of(Category::Parameter);
        let gradients = self.bytes_of(Category::Gradient).min(parameters);
        (parameters + gradients) + self.bytes_of(Category::OptimizerState)
    }

    /// The severity of a finding that could save some bytes: a warning if that would have prevented the OOM.
    pub(super) fn severity_of(&self, saving: Bytes) -> Severity {
        let is_enough = self.shortage.as_ref().is_some_and(|shortage| shortage.is_covered_by(saving));
        if is_enough { Severity::Warning } else { Severity::Info }
    }

    /// The first event of the iteration at the moment.
    pub(super) fn iteration_start(&self) -> Option<EventIx> {
        let iterations = &self.phases().iterations;
        iterations.list.get(iterations.index_at(self.moment)?).map(|iteration| iteration.start)
    }

    /// Whether a backward pass was recorded.
    pub(super) fn trains(&self) -> bool {
        self.phases().phases.iter().any(|start| start.phase == Phase::Backward)
    }

    /// Iterations and phases.
    pub(super) fn phases(&self) -> &Phases {
        &self.attribution.phases
    }

    /// Whether allocations were recorded, not only the state at the end.
    pub(super) fn has_history(&self) -> bool {
        self.recording.has_history()
    }

    /// Whether a good part of the memory is older than the first event: less is what a program sets up before anybody can record.
    pub(super) fn starts_late(&self) -> bool {
        let timeline = self.recording.timeline();
        let before = timeline.active.at(Moment::START);
        self.has_history() && WORTH.is_reached(before, timeline.active.peak().1)
    }

    /// Whether the file does not tell what was in use and reserved, since its parts cannot all be true.
    pub(super) fn is_contradictory(&self) -> bool {
        let trust = self.recording.trust;
        trust.in_use.and(trust.reserved).is_unknown()
    }

    /// The live bytes of each stack, most first.
    pub(super) fn live_stacks(&self) -> Vec<StackBytes> {
        self.stacks_of(self.live.iter().map(|a| a.id))
    }

    /// The bytes of some allocations by stack, most first.
    pub(super) fn stacks_of(&self, ids: impl IntoIterator<Item = AllocId>) -> Vec<StackBytes> {
        by_stack(ids.into_iter().map(|id| (self.recording.stack(id), self.recording.size(id))))
    }
}
