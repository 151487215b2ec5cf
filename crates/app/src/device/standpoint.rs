//! The place of the user in a device: cursor, selection, view, filter and colours, and the way back.

use super::filtering::FilterMode;
use super::history::{History, NavState, Selection};
use super::outline::Outline;
use crate::work::by_ptr::ByPtr;
use oomscope_analysis::filter::{Matches, quoted};
use oomscope_analysis::{At, MomentRange, site_label};
use oomscope_diagnosis::Finding;
use oomscope_draw::{AfterFix, Axis, ColorBy, Future, View};
use oomscope_model::{AllocId, Moment, Recording, StackId, Timeline};
use oomscope_report as report;
use oomscope_units as units;
use std::sync::Arc;
use tr::tr;

/// The memory that the timeline stacks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum TimelineMode {
    /// Live allocations.
    #[default]
    Blocks,
    /// Reserved memory.
    Segments,
}

/// Space on either side of a lifetime that fills the view, as a share of it: its ends stay visible.
const LIFETIME_MARGIN: f64 = 0.08;

/// The place in a recording that all panes show, and the way back to earlier ones.
pub(crate) struct Standpoint {
    recording: Recording,
    /// The part of the recording that the timelines show.
    pub(crate) view: View,
    /// The height of the view follows what is in it, as the user has not chosen another.
    pub(crate) fits_height: bool,
    /// The view whose height was fitted last.
    fitted: Option<View>,
    /// All there is to show.
    pub(crate) full: View,
    /// What is projected behind it.
    future: Arc<Future>,
    /// Everything shows the state at this moment.
    pub(crate) cursor: Moment,
    /// The start of ranges, as the user sets it.
    pub(crate) mark: Option<Moment>,
    /// The moment that the report is about; without one, the last OOM, else the peak.
    pub(crate) report_at: Option<At>,
    selection: Selection,
    range: Option<MomentRange>,
    outlined: Option<Outline>,
    /// The curve of the fix that the user looks at, as the timeline shows it, and as it will in the next frame.
    tried: [Option<Arc<AfterFix>>; 2],
    /// The memory that the verdict on the recording is about, once that is known.
    verdict: Option<Arc<Outline>>,
    /// Pictures mark that, and fade the rest.
    pub(crate) marks_verdict: bool,
    history: History,
    /// The filter as it is written.
    pub(crate) query: String,
    /// The treatment of allocations that the filter leaves out.
    pub(crate) filter_mode: FilterMode,
    /// The property that colours show.
    pub(crate) color_by: ColorBy,
    /// The memory that the timeline stacks.
    pub(crate) timeline_mode: TimelineMode,
}

impl Standpoint {
    /// At the last OOM, else at the peak, with everything in view.
    pub(crate) fn new(recording: &Recording) -> Self {
        let full = View::fit(recording);
        let last_oom = recording.ooms.last().map(|oom| Moment::after(oom.event));
        Self {
            view: full,
            fits_height: true,
            fitted: None,
            full,
            future: Arc::default(),
            cursor: last_oom.unwrap_or(recording.active.peak().0),
            mark: None,
            report_at: None,
            selection: Selection::None,
            range: None,
            outlined: None,
            tried: Default::default(),
            verdict: None,
            marks_verdict: true,
            history: History::default(),
            query: String::new(),
            filter_mode: FilterMode::default(),
            color_by: ColorBy::Category,
            timeline_mode: TimelineMode::default(),
            recording: recording.clone(),
        }
    }

    fn timeline(&self) -> &Timeline {
        &self.recording
    }

    /// The selection.
    pub(crate) fn selection(&self) -> Selection {
        self.selection
    }

    /// The selected allocation, if one is selected.
    pub(crate) fn selected_allocation(&self) -> Option<AllocId> {
        match self.selection {
            Selection::Allocation(id) => Some(id),
            _ => None,
        }
    }

    /// The stack that is selected, or that of the selected allocation.
    pub(crate) fn selected_stack(&self) -> Option<StackId> {
        match self.selection {
            Selection::Stack(stack) => Some(stack),
            Selection::Allocation(id) => Some(self.recording.stack(id)),
            _ => None,
        }
    }

    /// Let pictures mark the memory that the verdict is about.
    pub(crate) fn mark_verdict(&mut self, verdict: Option<&Arc<Outline>>) {
        if self.verdict.is_none() {
            self.verdict = verdict.cloned();
        }
    }

    /// The memory that the verdict is about, if there is something to mark.
    pub(crate) fn verdict(&self) -> Option<&Outline> {
        self.verdict.as_deref()
    }

    /// The memory that pictures mark: that of the finding that the user has chosen, else of the verdict.
    pub(crate) fn marked(&self) -> Option<&Outline> {
        self.outlined.as_ref().or(self.faded_to())
    }

    /// The memory of the verdict, where pictures fade the rest.
    fn faded_to(&self) -> Option<&Outline> {
        self.verdict().filter(|_| self.marks_verdict && self.outlined.is_none())
    }

    /// What pictures fade or leave out, where a filter found something or not: what it does not let through, else what the verdict
    /// is not about.
    pub(crate) fn shade(&self, found: Option<&ByPtr<Matches>>) -> Option<(ByPtr<Matches>, FilterMode)> {
        let of_filter = found.map(|found| (found.clone(), self.filter_mode));
        of_filter.or_else(|| Some((self.faded_to()?.matches().clone(), FilterMode::Dim)))
    }

    /// The memory of a finding that is outlined, if any is.
    pub(crate) fn outlined(&self) -> Option<&Outline> {
        self.outlined.as_ref()
    }

    /// Show the memory of a finding about a moment: outlined, the rest filtered out, its lifetime in view. If it is
    /// shown already, show everything again.
    pub(crate) fn toggle_outline(&mut self, finding: &Finding, moment: Moment) {
        self.history.leave(self.state());
        if self.outlined.take().is_some_and(|outline| outline.is_of(finding)) {
            return;
        }
        let mut outline = Outline::of(finding, &self.recording, moment);
        outline.is_filter = true;
        if let Some((from, to)) = outline.lifetime(&self.recording) {
            self.view = self.view_of(from, to);
        }
        self.outlined = Some(outline);
        self.move_to(moment);
    }

    /// Drop the filter of a finding, but keep its outline.
    pub(crate) fn filter_no_finding(&mut self) {
        if self.outlined.as_ref().is_some_and(|outline| outline.is_filter) {
            self.history.leave(self.state());
            self.outlined.iter_mut().for_each(|outline| outline.is_filter = false);
        }
    }

    /// Select what the event at the cursor is about.
    pub(crate) fn select_event(&mut self) {
        let selected = self.cursor.event().map(|event| Selection::of_event(&self.recording, event));
        self.select(selected.unwrap_or_default());
    }

    /// The cursor, what is marked and the selection in words, for those who do not see them.
    pub(crate) fn words(&self) -> String {
        let timeline = self.timeline();
        let cursor = report::moment_text(timeline, self.cursor);
        let marked = self.marked().map_or_else(String::new, |outline| format!(" · {}", outline.label));
        let site = |stack| site_label(self.recording.snapshot(), stack);
        let selected = match self.selection {
            Selection::None => return cursor + &marked,
            Selection::Allocation(id) => {
                format!("{} {}", units::bytes(timeline.size(id)), site(timeline.stack(id)))
            }
            Selection::Stack(stack) => tr!("everything of {}", site(stack)),
            Selection::Segment { addr } => tr!("segment at {}", units::address(addr)),
        };
        format!("{cursor}{marked} · {}", tr!("selected: {}", selected))
    }

    /// The range that is marked, if one is.
    pub(crate) fn range(&self) -> Option<MomentRange> {
        self.range
    }

    /// The moments that are compared: the ends of the marked range, else the mark, or the start, and the cursor.
    pub(crate) fn compared(&self) -> (Moment, Moment) {
        if let Some(range) = self.range {
            return (range.from, range.to);
        }
        let mark = self.mark.unwrap_or(Moment::START);
        (mark.min(self.cursor), mark.max(self.cursor))
    }

    /// Set the range without adding to the history, as while it is drawn.
    pub(crate) fn draw_range(&mut self, range: Option<MomentRange>) {
        self.range = range;
    }

    /// Select nothing, and mark no range.
    pub(crate) fn let_go(&mut self) {
        if (self.selection, self.range) != (Selection::None, None) {
            self.history.leave(self.state());
            (self.selection, self.range) = (Selection::None, None);
        }
    }

    /// Show the marked range with a little around it.
    pub(crate) fn zoom_to_range(&mut self) {
        if let Some(range) = self.range {
            self.zoom_to(range.from, Moment(range.to.0.saturating_add(1)));
        }
    }

    /// Select something else; the user can go back.
    pub(crate) fn select(&mut self, selection: Selection) {
        if selection != self.selection {
            self.history.leave(self.state());
            self.selection = selection;
        }
    }

    /// Filter by another query; the user can go back.
    pub(crate) fn filter(&mut self, query: String) {
        if query != self.query {
            self.history.leave(self.state());
            self.query = query;
        }
    }

    /// Filter nothing out.
    pub(crate) fn clear_filter(&mut self) {
        self.filter(String::new());
        self.filter_no_finding();
    }

    /// Filter to a query, or take the filter away if it is that query.
    pub(crate) fn toggle_filter(&mut self, query: String) {
        let is_there = self.query == query;
        self.filter(if is_there { String::new() } else { query });
    }

    /// Note that the user wrote the query over `before`, and can go back to that.
    pub(crate) fn query_was_written(&mut self, before: String) {
        if before != self.query {
            self.history.leave(NavState { query: before, ..self.state() });
        }
    }

    /// Filter to everything that is allocated by the same line as a stack.
    pub(crate) fn filter_to_site(&mut self, stack: StackId) {
        self.filter(format!("site:{}", quoted(&site_label(self.recording.snapshot(), stack))));
    }

    /// Put the cursor on a moment and bring it into view; the user can go back.
    pub(crate) fn go_to(&mut self, moment: Moment) {
        if moment != self.cursor {
            self.history.leave(self.state());
        }
        self.move_to(moment);
    }

    /// Put the cursor on a moment and select something there, in one step back.
    pub(crate) fn show_at(&mut self, moment: Moment, selection: Selection) {
        if (moment, selection) != (self.cursor, self.selection) {
            self.history.leave(self.state());
        }
        self.selection = selection;
        self.move_to(moment);
    }

    /// Put the cursor on a moment without a way back, as while scrubbing.
    pub(crate) fn move_to(&mut self, moment: Moment) {
        // A position at the end of the axis is a moment past the last.
        let last = self.timeline().moments().saturating_sub(1) as u32;
        self.cursor = Moment(moment.0.min(last));
        let (from, to) = self.view.on(self.timeline()).positions_of(self.cursor);
        self.view = self.view.showing(from, to, &self.full);
    }

    /// Remember this place before it changes in small steps, as in a drag.
    pub(crate) fn leave(&mut self) {
        self.history.leave(self.state());
    }

    /// Zoom at the cursor, or at the middle where the cursor is out of sight.
    pub(crate) fn zoom(&mut self, factor: f64) {
        // A moment is as wide as its event; this is its middle.
        let x = self.view.on(self.timeline()).x_from_moment(f64::from(self.cursor.0) + 0.5);
        let x = if (0.0..=1.0).contains(&x) { x } else { 0.5 };
        self.view = self.view.zoom_at(x, 0.5, factor, 1.0, &self.full);
    }

    /// Move the view by a share of its width.
    pub(crate) fn pan(&mut self, share: f64) {
        self.view = self.view.pan(share, 0.0, &self.full);
    }

    /// Show the time from an allocation to its free, with a little around it.
    pub(crate) fn zoom_to_lifetime(&mut self, id: AllocId) {
        let timeline = self.timeline();
        let end = timeline.lifetimes.end(id).unwrap_or(Moment(timeline.moments() as u32));
        self.zoom_to(timeline.lifetimes.start(id), end);
    }

    /// Show the time between two moments, with a little around it.
    fn zoom_to(&mut self, from: Moment, to: Moment) {
        self.show(self.view_of(from, to));
    }

    /// The view of the time between two moments, with a little around it.
    fn view_of(&self, from: Moment, to: Moment) -> View {
        let scale = self.view.on(self.timeline());
        let [from, to] = [from, to].map(|moment| scale.position_from_moment(f64::from(moment.0)));
        let margin = (to - from) * LIFETIME_MARGIN;
        self.view.of_range(from - margin, to + margin, &self.full)
    }

    /// Show another part of the timeline; the user can go back.
    pub(crate) fn show(&mut self, view: View) {
        if view != self.view {
            self.history.leave(self.state());
            self.view = view;
        }
    }

    /// Move the cursor by events.
    pub(crate) fn step(&mut self, by: i64) {
        let last = self.timeline().moments() as i64 - 1;
        self.move_to(Moment(i64::from(self.cursor.0).saturating_add(by).clamp(0, last) as u32));
    }

    pub(crate) fn go_to_peak(&mut self) {
        self.go_to(self.recording.active.peak().0);
    }

    /// Go to the next OOM behind the cursor, or from the last to the first.
    pub(crate) fn go_to_oom(&mut self) {
        let ooms = &self.timeline().ooms;
        let next = ooms.partition_point(|oom| Moment::after(oom.event) <= self.cursor);
        if let Some(oom) = ooms.get(next).or(ooms.first()) {
            self.go_to(Moment::after(oom.event));
        }
    }

    /// Show everything.
    pub(crate) fn fit(&mut self) {
        self.show(self.full);
        self.fits_height = true;
    }

    /// Let the height follow what is in view, or show the height of everything.
    pub(crate) fn toggle_fit_height(&mut self) {
        self.show(View { y0: self.full.y0, y1: self.full.y1, ..self.view });
        self.fits_height = !self.fits_height;
    }

    /// Keep the height as it follows from what is in view. Called in every frame.
    pub(crate) fn follow_height(&mut self) {
        if self.fits_height && self.fitted != Some(self.view) {
            let fitting = self.view.on(self.timeline()).fitting_height(&self.full);
            let needed = self.future.height_bytes(&self.view, self.timeline());
            self.view = View { y1: fitting.y1.max(needed), ..fitting };
            self.fitted = Some(self.view);
        }
    }

    /// Show the curve of a fix in the next frame. It goes when nobody asks for it again.
    pub(crate) fn try_fix(&mut self, fix: Arc<AfterFix>) {
        self.tried[1] = Some(fix);
    }

    /// Called at the start of every frame.
    pub(crate) fn show_tried(&mut self) {
        self.tried[0] = self.tried[1].take();
    }

    /// What the program would request with the fix that the user looks at, else with the one that is advised.
    pub(crate) fn after_fix(&self) -> Option<&AfterFix> {
        let advised = self.future.after_fix.as_ref().filter(|_| self.marks_verdict);
        self.tried[0].as_deref().or(advised)
    }

    /// What is projected behind the recording.
    pub(crate) fn future(&self) -> &Future {
        &self.future
    }

    /// Make room for what is projected; where everything is in view, that is, too.
    pub(crate) fn go_on(&mut self, future: Arc<Future>) {
        if Arc::ptr_eq(&self.future, &future) {
            return;
        }
        let (old, timeline) = (self.full, self.recording.timeline());
        self.full = future.behind(View::fit_on(timeline, old.axis), timeline);
        if (self.view.x0, self.view.x1) == (old.x0, old.x1) {
            self.view = View { x0: self.full.x0, x1: self.full.x1, ..self.view };
            let had_all = self.view.y1 == old.y1;
            self.view.y1 = if had_all { self.full.y1 } else { self.view.y1 };
        }
        (self.future, self.fitted) = (future, None);
    }

    /// Show the time by events, or by the clock, with the same moments in sight.
    pub(crate) fn set_axis(&mut self, axis: Axis) {
        if axis == self.view.axis || !self.timeline().times.has_times() {
            return;
        }
        let full = self.future.behind(View::fit_on(self.timeline(), axis), self.timeline());
        let (timeline, old) = (self.timeline(), self.view);
        let position = |x: f64| {
            let moment = old.on(timeline).moment_from_x(x);
            full.on(timeline).position_from_moment(moment)
        };
        let is_all = old.x0 <= self.full.x0 && self.full.x1 <= old.x1;
        let (x0, x1) = if is_all { (full.x0, full.x1) } else { (position(0.0), position(1.0)) };
        self.view = View { y0: old.y0, y1: old.y1, ..full }.of_range(x0, x1, &full);
        self.full = full;
    }

    /// Return to the place before.
    pub(crate) fn back(&mut self) {
        let state = self.history.back(self.state());
        self.return_to(state);
    }

    /// Undo [`Self::back`].
    pub(crate) fn forward(&mut self) {
        let state = self.history.forward(self.state());
        self.return_to(state);
    }

    /// True for each of back and forward that leads somewhere.
    pub(crate) fn can_go(&self) -> (bool, bool) {
        (self.history.can_go_back(), self.history.can_go_forward())
    }

    fn state(&self) -> NavState {
        let query = self.query.clone();
        let Self { cursor, selection, range, view, fits_height, .. } = *self;
        let outlined = self.outlined.clone();
        NavState { cursor, selection, range, view, fits_height, query, outlined }
    }

    /// Go to a place that was remembered, without a way back.
    pub(crate) fn return_to(&mut self, state: Option<NavState>) {
        let Some(state) = state else { return };
        // The axis comes first: it sets `full`, and a view that is replaced below.
        self.set_axis(state.view.axis);
        (self.cursor, self.selection, self.view) = (state.cursor, state.selection, state.view);
        (self.range, self.fits_height, self.query) = (state.range, state.fits_height, state.query);
        self.outlined = state.outlined;
    }
}
