//! Tests that only an allocation can be asked: its life and its category.

use super::common_terms::Queried;
use super::compare::Interval;
use super::conditions::OwnCheck;
use super::named_moments::{When, event_number};
use super::notes::Notes;
use super::texts;
use crate::{Basis, BlockTensors, Categories, Category, Verdict, holder_text, shape_text, tensor_name};
use oomscope_model::{
    AllocId, Bytes, Census, EventIx, Moment, NamedTensor, Origin, Recording, StackId, Timeline,
};
use rayon::prelude::*;

/// A condition that needs a life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AllocationTest {
    Lifetime(Vec<LifeSpan>),
    /// The category, or the one that was recorded, has one of the texts.
    Category(Vec<String>),
    /// How surely the category is known.
    Basis(Vec<Basis>),
    /// The name of the rule that decided the category has one of the texts.
    Rule(Vec<String>),
    /// The program named a tensor in it that has one of the texts.
    Tensor(TensorPart, Vec<String>),
    Live(Vec<When>),
    /// Given back and waiting for a stream, at the cursor.
    Awaiting,
    /// Never freed.
    Kept,
    /// From before the first event.
    Before,
}

/// How long an allocation lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LifeSpan {
    Microseconds(Interval),
    Events(Interval),
}

/// What is asked of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TensorPart {
    Name,
    Dtype,
    Shape,
    Holder,
}

impl TensorPart {
    fn text(self, census: &Census, tensor: &NamedTensor) -> Option<String> {
        match self {
            Self::Name => tensor_name(census, tensor),
            Self::Dtype => Some(census.text(tensor.dtype).to_owned()),
            Self::Shape => Some(shape_text(census, tensor)),
            Self::Holder => census.holder_of(tensor).map(|at| holder_text(census, census.holder(at))),
        }
    }
}

impl AllocationTest {
    /// Whether the answer changes with the cursor.
    pub(super) fn is_cursor_dependent(&self) -> bool {
        match self {
            Self::Live(moments) => moments.contains(&When::Cursor),
            Self::Awaiting => true,
            Self::Lifetime(_)
            | Self::Category(_)
            | Self::Basis(_)
            | Self::Rule(_)
            | Self::Tensor(..)
            | Self::Kept
            | Self::Before => false,
        }
    }

    pub(super) fn needs_attribution(&self) -> bool {
        match self {
            // Names of earlier iterations follow from iterations.
            Self::Category(_) | Self::Basis(_) | Self::Rule(_) | Self::Tensor(..) => true,
            Self::Lifetime(_) | Self::Live(_) | Self::Awaiting | Self::Kept | Self::Before => false,
        }
    }

    /// Why the test cannot hold for anything on a device: it asks for what was not recorded.
    pub(super) fn missing(&self, recording: &Recording) -> Option<&'static str> {
        let (snapshot, timeline) = (recording.snapshot(), recording.timeline());
        if let Self::Tensor(..) = self {
            return snapshot.census.tensors().is_empty().then_some("no names of tensors were recorded");
        }
        let Self::Lifetime(spans) = self else { return None };
        let needs_time = spans.iter().any(|span| matches!(span, LifeSpan::Microseconds(_)));
        let is_missing = needs_time && timeline.events.time_range_us().is_none();
        is_missing.then_some("no times were recorded")
    }

    pub(super) fn check(
        &self,
        recording: &Recording,
        categories: &Categories,
        notes: &mut Notes,
    ) -> AllocationCheck {
        match self {
            Self::Lifetime(spans) => AllocationCheck::Lifetime {
                spans: spans.clone(),
                time_range_us: recording.events.time_range_us(),
            },
            Self::Category(needles) => AllocationCheck::Listed(with_category(recording, categories, needles)),
            Self::Basis(wanted) => listed(recording, categories, |verdict| wanted.contains(&verdict.basis())),
            Self::Rule(needles) => {
                listed(recording, categories, |verdict| texts::has_any(verdict.rule.rule().id, needles))
            }
            Self::Tensor(part, needles) => {
                let census = &recording.snapshot().census;
                let has_it = |tensor: &NamedTensor| {
                    part.text(census, tensor).is_some_and(|text| texts::has_any(&text, needles))
                };
                let ids = (0..recording.lifetimes.len() as u32).into_par_iter().map(AllocId);
                let is_found = |id| BlockTensors::of(recording, categories, id).tensors.iter().any(has_it);
                AllocationCheck::Listed(ids.map(is_found).collect())
            }
            Self::Live(moments) => {
                AllocationCheck::Live(notes.known(moments.iter().map(|when| when.moment(recording))))
            }
            Self::Awaiting => AllocationCheck::Awaiting,
            Self::Kept => AllocationCheck::Kept,
            Self::Before => AllocationCheck::Before,
        }
    }
}

/// Those whose verdict holds.
fn listed(
    timeline: &Timeline,
    categories: &Categories,
    holds: impl Fn(Verdict) -> bool + Sync,
) -> AllocationCheck {
    let ids = (0..timeline.lifetimes.len() as u32).into_par_iter().map(AllocId);
    AllocationCheck::Listed(ids.map(|id| holds(categories.verdict(id))).collect())
}

/// By allocation, whether its category or the one that was recorded with it has one of the needles.
fn with_category(recording: &Recording, categories: &Categories, needles: &[String]) -> Vec<bool> {
    let named = |category: Category| {
        texts::has_any(category.key(), needles) || texts::has_any(category.label(), needles)
    };
    let is_named = Category::ALL.map(named);
    let (snapshot, timeline) = (recording.snapshot(), recording.timeline());
    let contexts = timeline.events.contexts();
    let is_recorded = texts::contexts_with(snapshot, contexts, |context| [context.category], needles);
    let ids = (0..timeline.lifetimes.len() as u32).into_par_iter().map(AllocId);
    ids.map(|id| {
        let event = timeline.lifetimes.start(id).event();
        let context = event.map(|event| timeline.events.context_index(event));
        is_named[categories.get(id) as usize]
            || context.and_then(|at| is_recorded.get(at)).is_some_and(|&recorded| recorded)
    })
    .collect()
}

/// An [`AllocationTest`] with what the device answers once.
#[derive(Debug)]
pub(super) enum AllocationCheck {
    Lifetime {
        spans: Vec<LifeSpan>,
        /// First and last recorded time.
        time_range_us: Option<(i64, i64)>,
    },
    /// By allocation.
    Listed(Vec<bool>),
    /// `None` is the cursor.
    Live(Vec<Option<Moment>>),
    Awaiting,
    Kept,
    Before,
}

/// An allocation of a timeline while the cursor is at a moment.
#[derive(Clone, Copy)]
pub(super) struct AllocationRow<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) id: AllocId,
    pub(super) cursor: Moment,
}

impl Queried for AllocationRow<'_> {
    #[inline]
    fn index(&self) -> usize {
        self.id.index()
    }

    #[inline]
    fn stack(&self) -> StackId {
        self.timeline.stack(self.id)
    }

    #[inline]
    fn context(&self) -> usize {
        let events = &self.timeline.events;
        match self.timeline.lifetimes.origin(self.id) {
            Origin::Event(ix) => events.context_index(ix),
            Origin::Before => events.contexts().len() + self.id.index(),
        }
    }

    #[inline]
    fn size(&self) -> Bytes {
        self.timeline.size(self.id)
    }

    #[inline]
    fn addr(&self) -> Option<u64> {
        Some(self.timeline.addr(self.id))
    }

    #[inline]
    fn event_number(&self) -> i64 {
        event_number(self.timeline.lifetimes.start(self.id))
    }
}

impl OwnCheck<AllocationRow<'_>> for AllocationCheck {
    #[inline]
    fn holds(&self, row: &AllocationRow<'_>) -> bool {
        let AllocationRow { timeline, id, cursor } = *row;
        let lifetimes = &timeline.lifetimes;
        match self {
            Self::Lifetime { spans, time_range_us } => {
                spans.iter().any(|&span| lives(span, timeline, id, *time_range_us))
            }
            Self::Listed(holds) => holds[id.index()],
            Self::Live(moments) => {
                moments.iter().any(|moment| is_live_at(timeline, id, moment.unwrap_or(cursor)))
            }
            Self::Awaiting => {
                let is_requested = lifetimes.requested(id).is_some_and(|requested| requested <= cursor);
                is_requested && is_live_at(timeline, id, cursor)
            }
            Self::Kept => lifetimes.end(id).is_none(),
            Self::Before => lifetimes.origin(id) == Origin::Before,
        }
    }
}

/// Whether an allocation is known to live that long.
fn lives(span: LifeSpan, timeline: &Timeline, id: AllocId, time_range_us: Option<(i64, i64)>) -> bool {
    let (lifetimes, moments) = (&timeline.lifetimes, timeline.moments() as i64);
    let (start, end) = (lifetimes.start(id), lifetimes.end(id));
    let is_whole = start != Moment::START && end.is_some();
    match span {
        LifeSpan::Events(interval) => {
            // One that survives is freed after the last event at the earliest.
            let end = end.map_or(moments, |end| i64::from(end.0));
            interval.covers(end - i64::from(start.0), is_whole)
        }
        LifeSpan::Microseconds(interval) => {
            let Some((first, last)) = time_range_us else { return false };
            let time = |event: Option<EventIx>, open| match event {
                Some(event) => timeline.events.time_us(event),
                None => Some(open),
            };
            let known = time(start.event(), first).zip(time(end.and_then(Moment::event), last));
            known.is_some_and(|(start, end)| interval.covers(end.saturating_sub(start), is_whole))
        }
    }
}

fn is_live_at(timeline: &Timeline, id: AllocId, moment: Moment) -> bool {
    let lifetimes = &timeline.lifetimes;
    lifetimes.start(id) <= moment && lifetimes.end(id).is_none_or(|end| moment < end)
}
