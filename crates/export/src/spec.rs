//! The complete description of a picture: its kind, the part of the recording, colours and words.

use super::kind::PictureKind;
use oomscope_analysis::filter::Matches;
use oomscope_analysis::{
    Attribution, FrameKey, Lanes, Measure, TreeOptions, capacity, lanes, structure_lanes,
};
use oomscope_diagnosis::{Finding, Mark};
use oomscope_draw::picture::{Caption, LegendEntry, LegendMark, Page, Selected, SiteList};
use oomscope_draw::segment_map::MapLook;
use oomscope_draw::{
    ArrangedRows, BlockFilter, ColorBy, ColorKey, Coloring, Future, MarkStep, Palette, View,
};
use oomscope_model::{AllocId, Bytes, Moment, Recording, Timeline};
use oomscope_report as report;
use oomscope_report::{Answer, Fix};
use oomscope_units as units;
use std::sync::Arc;

/// A filter and the allocations that match it.
#[derive(Clone)]
pub struct Filtered {
    /// The query, for the caption.
    pub query: String,
    /// The allocations that match.
    pub matches: Arc<Matches>,
    /// Whether the others are left out where that makes sense; otherwise they are faded.
    pub hides_rest: bool,
}

/// Memory that a picture marks, while the rest fades: that which the verdict is about.
#[derive(Clone)]
pub struct Marked {
    /// What it is, in a few words.
    pub label: String,
    /// The allocations.
    pub allocations: Arc<Matches>,
    /// The parts of them that came one after another, in that order.
    pub steps: Arc<[MarkStep]>,
    /// The moment that it is about.
    pub moment: Moment,
}

impl Marked {
    /// What a finding about a moment marks; `None` if there is nothing to mark.
    pub fn of(finding: &Finding, timeline: &Timeline, moment: Moment) -> Option<Self> {
        let mark = finding.mark.as_ref()?;
        let label = units::printable(mark.label.text());
        let steps = mark_steps(mark);
        let allocations = finding.evidence.about.iter().copied();
        let allocations = Arc::new(Matches::from_ids(timeline.lifetimes.len(), allocations));
        Some(Self { label, allocations, steps, moment })
    }
}

/// The steps of a mark, for pictures.
pub fn mark_steps(mark: &Mark) -> Arc<[MarkStep]> {
    let step = |step: &oomscope_diagnosis::MarkStep| MarkStep {
        start: Moment::after(step.start),
        label: step.label.to_string(),
    };
    mark.steps.iter().map(step).collect()
}

/// The verdict on the recording, as the window's header says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureVerdict {
    title: String,
    /// The line of code, and what to change.
    answer: Option<String>,
}

impl PictureVerdict {
    /// The verdict's title, and what it comes down to: the line, and what to change.
    pub fn new(title: String, answer: Option<&Answer>, fix: Option<&Fix>) -> Self {
        let line = answer.and_then(|answer| answer.culprit.clone());
        let fix = answer.and(fix).map(|fix| format!("Fix: {}", fix.line()));
        let parts: Vec<String> = line.into_iter().chain(fix).collect();
        Self { title, answer: (!parts.is_empty()).then(|| parts.join(" · ")) }
    }
}

/// The measure and the arrangement of a flame graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StacksView {
    /// The weight of a stack.
    pub measure: Measure,
    /// How stacks become a tree.
    pub options: TreeOptions,
    /// The path from below the root to the frame that fills the whole width.
    pub zoom: Vec<FrameKey>,
    /// The text to highlight, if not empty.
    pub search: String,
}

/// Everything that a picture depends on, except its size.
#[derive(Clone)]
pub struct PictureSpec {
    /// The device.
    pub recording: Recording,
    /// The file's name.
    pub name: String,
    /// The kind of picture.
    pub kind: PictureKind,
    /// The part of the recording that is shown.
    pub view: View,
    /// Iterations and phases, if they are shown.
    pub attribution: Option<Arc<Attribution>>,
    /// The verdict for the caption. `None` describes the outcome by the model's figures alone.
    pub verdict: Option<PictureVerdict>,
    /// Whether it is a part of a page, which has its words: then it has neither a caption nor a list of sites.
    pub is_in_page: bool,
    /// Whether to leave out what may name users and hosts: folders in the words around the picture, annotations and settings.
    pub redacts: bool,
    /// The colours of allocations.
    pub coloring: Arc<Coloring>,
    /// The moment that the caption and the list of sites describe.
    pub moment: Moment,
    /// Whether the moment is marked, too.
    pub has_cursor: bool,
    /// The selected allocation or stack.
    pub selected: Selected,
    /// The filter.
    pub filter: Option<Filtered>,
    /// The memory that is marked where there is no filter.
    pub marked: Option<Marked>,
    /// The arrangement of the segment map, and the part of it that is shown.
    pub map: MapLook,
    /// The arrangement of the segment timeline. `None` shows as many rows as fit, the largest first.
    pub rows: Option<ArrangedRows>,
    /// The flame graph's measure and arrangement.
    pub stacks: StacksView,
    /// What is projected behind the recording.
    pub future: Arc<Future>,
    /// The most bytes that the device can reserve. `None` takes it from the recording, if that shows it.
    pub capacity: Option<Bytes>,
    /// The theme.
    pub palette: &'static Palette,
}

impl PictureSpec {
    /// The words around the picture: caption and legend.
    pub(super) fn page(&self, timeline: &Timeline, mut legend: Vec<LegendEntry>) -> Page {
        let keys = self.color_keys(timeline).into_iter();
        legend.extend(keys.map(|key| LegendEntry::new(LegendMark::Area, key.color, key.label)));
        let caption = if self.is_in_page { Caption::default() } else { self.caption(timeline) };
        Page { caption, legend }
    }

    /// The words above the picture.
    fn caption(&self, timeline: &Timeline) -> Caption {
        let title = units::printable(units::basename(&self.name));
        let answer = self.verdict.as_ref().and_then(|verdict| verdict.answer.clone());
        let mut lines: Vec<String> = answer.into_iter().map(|answer| self.redacted(answer)).collect();
        if !self.redacts {
            lines.extend(report::caption_lines(&self.recording, self.moment));
        }
        lines.extend(self.filter_text(timeline));
        Caption { title, headline: self.headline(timeline), lines }
    }

    /// The verdict, or the outcome of the recording.
    pub(super) fn headline(&self, timeline: &Timeline) -> String {
        let snapshot = self.recording.snapshot();
        let title = match &self.verdict {
            Some(verdict) => self.redacted(verdict.title.clone()),
            None => report::headline(timeline, snapshot.damage.is_some()),
        };
        report::predicted_title(snapshot, &title)
    }

    /// A text without folders, if they are to be left out.
    pub(super) fn redacted(&self, text: String) -> String {
        if self.redacts { units::without_names(&text) } else { text }
    }

    /// The filter and the number of its matches, for captions.
    pub(super) fn filter_text(&self, timeline: &Timeline) -> Option<String> {
        let Filtered { query, matches, .. } = self.filter()?;
        let [found, all] = [matches.count(), timeline.lifetimes.len()].map(|n| units::count(n as u64));
        let query = self.redacted(units::printable(query));
        Some(format!("Filter: {query} · {found} of {all} allocations"))
    }

    /// The legend of the colours of `coloring`, as far as this kind of picture has them.
    pub(super) fn color_keys(&self, timeline: &Timeline) -> Vec<ColorKey> {
        match self.kind {
            PictureKind::Timeline
            | PictureKind::SegmentMap
            | PictureKind::SegmentTimeline
            | PictureKind::Stacks => self.coloring.keys(timeline),
            PictureKind::Reserved => self.coloring.reserved_keys(timeline),
            PictureKind::Curves => Vec::new(),
        }
    }

    /// The sites that hold most memory at the moment, unless a page lists them.
    pub(super) fn sites(&self, timeline: &Timeline) -> Option<SiteList> {
        if self.is_in_page {
            return None;
        }
        let heading = report::moment_name(timeline, self.moment);
        let by_stack = self.coloring.by() == ColorBy::Stack && self.kind != PictureKind::Stacks;
        let coloring = by_stack.then_some(&*self.coloring);
        let contains = |id| self.contains(id);
        let kept = self.filter().map(|_| &contains as &dyn Fn(AllocId) -> bool);
        Some(SiteList::new(&self.recording, self.moment, heading, coloring, kept))
    }

    /// The filter, if the kind of picture depends on one.
    pub(super) fn filter(&self) -> Option<&Filtered> {
        self.filter.as_ref().filter(|_| self.kind.is_filtered())
    }

    /// Whether the filter lets an allocation through.
    pub(super) fn contains(&self, id: AllocId) -> bool {
        self.filter().is_none_or(|filter| filter.matches.contains(id))
    }

    /// What is marked, where no filter says what to show.
    pub(super) fn mark(&self) -> Option<oomscope_draw::Mark<'_>> {
        let marked = self.marked.as_ref().filter(|_| self.kind.is_filtered() && self.filter.is_none())?;
        let Marked { label, allocations, steps, moment } = marked;
        Some(oomscope_draw::Mark { allocations, label, moment: *moment, steps })
    }

    /// Whether an allocation does not fade.
    pub(super) fn stresses(&self, id: AllocId) -> bool {
        self.contains(id) && self.mark().is_none_or(|mark| mark.allocations.contains(id))
    }

    /// What fades, for [`oomscope_draw`]. `contains` is [`Self::stresses`], which the result borrows.
    pub(super) fn block_filter<'a>(
        &self,
        contains: &'a (dyn Fn(AllocId) -> bool + Sync),
    ) -> Option<BlockFilter<'a>> {
        let hides_rest = self.filter().map(|filter| filter.hides_rest);
        hides_rest.or(self.mark().map(|_| false)).map(|hides_rest| BlockFilter { contains, hides_rest })
    }

    /// Iterations and phases, and annotations below them.
    pub(super) fn lanes(&self, timeline: &Timeline) -> Lanes {
        let mut all = if self.redacts { Lanes::default() } else { lanes(&self.recording) };
        if let Some(found) = &self.attribution {
            let annotated = std::mem::replace(&mut all.lanes, structure_lanes(timeline, &found.phases));
            all.lanes.extend(annotated);
        }
        all
    }

    /// The most bytes that the device can reserve, if known.
    pub(super) fn capacity(&self, timeline: &Timeline) -> Option<Bytes> {
        let recorded = || self.recording.snapshot().device_memory(timeline.device);
        self.capacity.or_else(|| capacity(timeline)).or_else(recorded)
    }

    /// The moment, if it is marked.
    pub(super) fn cursor(&self) -> Option<Moment> {
        self.has_cursor.then_some(self.moment)
    }
}
