//! What several detectors look at, found out once.

use super::code::{Code, by_stack};
use super::rounds::Rounds;
use super::verdict::Cause;
use super::{Growing, Kept, Severity, Shortage, StackBytes};
use crate::analysis::segment_state::{Content, SegmentIndex, SegmentState};
use crate::analysis::{At, Attribution, Category, MomentError, Phases, live_at, resolve};
use crate::model::{Action, AllocId, Allocation, Anchor, EventIx, Moment, OomEvent, Snapshot, Timeline};
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// What is in use before the first event of a recording that starts late, as a share of the peak.
const LATE_SHARE: f64 = 0.05;

/// What lies outside of all segments where a recording contradicts itself, as a share of what is in use.
const OUTSIDE_SHARE: f64 = 0.05;

/// What is asked for besides the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Question {
    /// The moment; without one, the last OOM, else the peak.
    pub at: Option<At>,
    /// Memory of the device, in bytes, which no recording states.
    pub device_memory: Option<i64>,
}

/// One device at one moment.
#[derive(Debug)]
pub struct Context<'a> {
    /// The file.
    pub snapshot: &'a Snapshot,
    /// The device.
    pub timeline: &'a Timeline,
    /// The moment.
    pub moment: Moment,
    /// Memory of the device, where the user said.
    pub device_memory: Option<i64>,
    /// Lines of code.
    pub code: Code<'a>,
    /// What is live, largest first.
    pub live: Vec<Allocation>,
    /// The memory map.
    pub state: SegmentState,
    /// The request that failed at the moment, if one did.
    pub shortage: Option<Shortage>,
    /// Categories, iterations and phases.
    pub attribution: &'a Attribution,
    /// What the program does again and again.
    pub(super) rounds: Rounds,
    /// What stays from round to round.
    pub kept: Option<Kept>,
    /// What gets larger from round to round.
    pub growing: Option<Growing>,
    /// Why the request failed, once that was asked.
    pub(super) cause: OnceCell<Cause>,
}

impl<'a> Context<'a> {
    /// Look at a device, knowing what its allocations are for.
    ///
    /// # Errors
    /// If the moment does not exist.
    pub fn new(
        snapshot: &'a Snapshot,
        timeline: &'a Timeline,
        attribution: &'a Attribution,
        question: Question,
    ) -> Result<Self, MomentError> {
        let moment = resolve(question.at.unwrap_or_else(|| At::oom_or_peak(timeline)), timeline)?;
        let index = SegmentIndex::new(snapshot, timeline);
        let state = index.at(timeline, moment);
        let oom = timeline.ooms.iter().find(|oom| Moment::after(oom.event) == moment);
        let shortage = oom.map(|&oom: &OomEvent| Shortage::new(snapshot, timeline, &index, &state, oom));
        let code = Code::new(snapshot);
        let rounds = Rounds::of(timeline, &attribution.phases);
        let mut context = Self {
            snapshot,
            timeline,
            moment,
            device_memory: question.device_memory,
            code,
            live: live_at(timeline, moment),
            state,
            shortage,
            rounds,
            attribution,
            kept: None,
            growing: None,
            cause: OnceCell::new(),
        };
        context.kept = Kept::of(&context);
        context.growing = Growing::of(&context);
        Ok(context)
    }

    /// Whether the moment is an OOM.
    pub fn is_oom(&self) -> bool {
        self.shortage.is_some()
    }

    /// Whether sizes have to tell which allocations belong together: nothing has a stack, but torch announced the
    /// steps that tell iterations apart.
    pub(super) fn tells_by_size(&self) -> bool {
        self.snapshot.frames.is_empty() && self.phases().has_announced_steps()
    }

    /// What an allocation is for.
    pub fn category(&self, id: AllocId) -> Category {
        self.attribution.categories.get(id)
    }

    /// Requested bytes of what is live.
    pub fn live_bytes(&self) -> i64 {
        self.live.iter().fold(0, |sum, a| sum.saturating_add(a.size))
    }

    /// Requested bytes of what is live of a category.
    pub fn bytes_of(&self, category: Category) -> i64 {
        let live = self.live.iter().filter(|a| self.category(a.id) == category);
        live.fold(0, |sum, a| sum.saturating_add(a.size))
    }

    /// Blocks that the program has given back and that wait for a stream.
    pub fn awaiting(&self) -> BTreeSet<AllocId> {
        let waiting = self.state.parts.iter().filter_map(|part| match part.content {
            Content::Awaiting(id) => id,
            _ => None,
        });
        waiting.collect()
    }

    /// What is live of a category, but for what stays from earlier rounds: nobody will use that any more.
    pub fn current(&self, category: Category) -> Vec<&Allocation> {
        let left: BTreeSet<AllocId> =
            self.kept.iter().flat_map(|kept| kept.allocations.iter().copied()).collect();
        let is_current = |a: &&Allocation| self.category(a.id) == category && !left.contains(&a.id);
        self.live.iter().filter(is_current).collect()
    }

    /// The category with most bytes.
    pub fn largest_category(&self) -> Option<(Category, i64)> {
        let bytes = Category::ALL.into_iter().map(|category| (category, self.bytes_of(category)));
        bytes.filter(|&(_, bytes)| 0 < bytes).max_by_key(|&(_, bytes)| bytes)
    }

    /// Live bytes of what a model in training takes: parameters, optimizer state and gradients. More gradients
    /// than parameters are on their way through the graph.
    pub fn fixed_bytes(&self) -> i64 {
        let parameters = self.bytes_of(Category::Parameter);
        let gradients = self.bytes_of(Category::Gradient).min(parameters);
        parameters.saturating_add(gradients).saturating_add(self.bytes_of(Category::OptimizerState))
    }

    /// How much a saving matters: a warning if it would have prevented the OOM.
    pub fn severity_of(&self, saving: i64) -> Severity {
        let missing = self.shortage.as_ref().and_then(Shortage::missing_bytes);
        if missing.is_some_and(|missing| 0 < missing && missing <= saving) {
            Severity::Warning
        } else {
            Severity::Info
        }
    }

    /// The first event of the iteration that the moment is in.
    pub fn iteration_start(&self) -> Option<EventIx> {
        let iterations = &self.phases().iterations;
        iterations.list.get(iterations.index_at(self.moment)?).map(|iteration| iteration.start)
    }

    /// Iterations and phases.
    pub fn phases(&self) -> &Phases {
        &self.attribution.phases
    }

    /// Whether allocations were recorded, not only the state at the end.
    pub fn has_history(&self) -> bool {
        let events = &self.timeline.events;
        events.indices().any(|ix| events.action(ix) == Action::Alloc)
    }

    /// Whether a good part of the memory is older than the first event.
    pub fn starts_late(&self) -> bool {
        let timeline = self.timeline;
        let before = timeline.active.at(Moment::START);
        self.has_history() && LATE_SHARE <= Self::share(before, timeline.active.peak().1)
    }

    /// Whether what is in use cannot lie in what is reserved, although all of the file is there.
    pub fn is_contradictory(&self) -> bool {
        let timeline = self.timeline;
        let active = timeline.active.at(self.moment);
        timeline.anchor == Anchor::EndState
            && (timeline.reserved.at(self.moment) < active
                || OUTSIDE_SHARE <= Self::share(self.state.outside.active_bytes(), active))
    }

    /// What is live by stack, most bytes first.
    pub fn live_stacks(&self) -> Vec<StackBytes> {
        by_stack(self.live.iter().map(|a| (a.stack, a.size)))
    }

    /// An allocation.
    pub fn allocation(&self, id: AllocId) -> Allocation {
        self.timeline.lifetimes.get(id, &self.timeline.events)
    }

    /// A share of a whole, from 0 to 1; 0 of nothing.
    pub fn share(part: i64, whole: i64) -> f64 {
        if whole <= 0 { 0.0 } else { part as f64 / whole as f64 }
    }
}
