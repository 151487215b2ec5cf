//! One device of an open file: what is shown of it, and what is remembered between frames.

use crate::analysis::filter::{Matches, quoted};
use crate::analysis::{Attribution, Lanes, lanes, site_label, structure_lanes};
use crate::app::attribution::Attributing;
use crate::app::details::allocation_facts::AllocationFacts;
use crate::app::details::contributors::Contributors;
use crate::app::details::editor;
use crate::app::details::facts::{Figures, OomFacts};
use crate::app::details::site_view::SiteFacts;
use crate::app::filter::work::{FilterMode, Filtering};
use crate::app::navigation::{History, Place, Selection};
use crate::app::panes::Pane;
use crate::app::preferences::Preferences;
use crate::app::report_view::work::{Diagnosing, Report};
use crate::app::tables::cells::{self, Sites};
use crate::app::timeline::rasters::Rasters;
use crate::app::worker::RasterMode;
use crate::app::{filter, segment_map, segment_timeline, stacks, tables, timeline, what_if};
use crate::diagnosis::Question;
use crate::draw::{Axis, BandColors, ColorBy, Coloring, Palette, View, decimate, totals};
use crate::model::{AllocId, Moment, Snapshot, StackId, Timeline};
use eframe::egui;
use egui_plot::PlotPoint;
use std::sync::Arc;

/// Points of a curve: more than most windows have columns.
const MAX_CURVE_POINTS: usize = 2000;

/// What the timeline stacks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum TimelineMode {
    /// Live allocations.
    #[default]
    Blocks,
    /// Reserved memory.
    Segments,
}

/// State of one device.
pub(super) struct DeviceState {
    snapshot: Arc<Snapshot>,
    at: usize,
    /// What does not change.
    pub(super) figures: Figures,
    /// What the timeline shows.
    pub(super) view: View,
    /// All there is to show.
    pub(super) full: View,
    /// Everything shows the state at this moment.
    pub(super) cursor: Moment,
    selection: Selection,
    history: History,
    /// What colours tell apart.
    pub(super) color_by: ColorBy,
    /// What the timeline stacks.
    pub(super) mode: TimelineMode,
    /// The filter as it is written.
    pub(super) filter_query: String,
    /// What happens to what it leaves out.
    pub(super) filter_mode: FilterMode,
    /// What the filter means and finds.
    pub(super) filtering: Filtering,
    /// Iterations and phases, once they are found, and annotations.
    pub(super) lanes: Lanes,
    attributing: Attributing,
    attribution: Option<Arc<Attribution>>,
    /// The file's name, as its tab says it.
    pub(super) name: String,
    /// What happened and why.
    pub(super) diagnosing: Diagnosing,
    /// Bytes that the user says the device has.
    given_capacity: Option<i64>,
    /// The pane to bring to the front in the next frame.
    pub(super) wanted_pane: Option<Pane>,
    /// Whether frames of torch and the interpreter are listed.
    pub(super) shows_internal_frames: bool,
    /// Pictures of the timeline.
    pub(super) rasters: Rasters,
    raster_mode: RasterMode,
    /// Decimated curves.
    pub(super) curves: Curves,
    /// What panels remember.
    pub(super) panels: Panels,
    contributors: Option<Contributors>,
    facts: Option<AllocationFacts>,
    site_facts: Option<SiteFacts>,
    /// How the user's editor is started.
    pub(super) editor_command: String,
    /// What just happened, for the status bar.
    pub(super) notice: Option<String>,
    oom: Option<OomFacts>,
    coloring: Option<(ColoringKey, Arc<Coloring>)>,
    stack_colors: [Option<Arc<BandColors>>; 2],
}

/// What colours are made for: what they tell apart, whether the theme is dark, and whether it is known
/// what allocations are for, where that matters.
type ColoringKey = (ColorBy, bool, bool);

/// What panels remember: one field per panel.
#[derive(Default)]
pub(super) struct Panels {
    pub(super) filter: filter::bar::State,
    pub(super) allocations: tables::allocations::State,
    pub(super) events: tables::events::State,
    /// Shared by both.
    pub(super) sites: Sites,
    pub(super) stacks: stacks::panel::State,
    pub(super) timeline: timeline::panel::State,
    pub(super) segments: segment_map::panel::State,
    pub(super) segment_timeline: segment_timeline::panel::State,
    pub(super) what_if: what_if::panel::State,
}

impl Panels {
    /// Take over from another version of the file what does not depend on its contents.
    pub(super) fn keep(&mut self, old: &Self) {
        self.allocations.keep(&old.allocations);
        self.events.keep(&old.events);
        self.segments.keep(&old.segments);
        self.stacks.keep(&old.stacks);
        self.segment_timeline.keep(&old.segment_timeline);
    }
}

/// Curves with few enough points to draw in every frame.
pub(super) struct Curves {
    pub(super) active: Vec<PlotPoint>,
    pub(super) allocated: Vec<PlotPoint>,
    pub(super) reserved: Vec<PlotPoint>,
}

impl DeviceState {
    pub(super) fn new(snapshot: Arc<Snapshot>, at: usize, ctx: &egui::Context, mode: RasterMode) -> Self {
        let timeline = &snapshot.timelines[at];
        let figures = Figures::new(&snapshot, timeline);
        let full = View::fit(timeline);
        let attributing = Attributing::new(Arc::clone(&snapshot), at, ctx, mode);
        let last_oom = timeline.ooms.last().map(|oom| Moment::after(oom.event));
        Self {
            view: full,
            full,
            cursor: last_oom.unwrap_or(figures.peak.0),
            selection: Selection::None,
            history: History::default(),
            color_by: ColorBy::Category,
            mode: TimelineMode::default(),
            filter_query: String::new(),
            filter_mode: FilterMode::default(),
            filtering: Filtering::new(Arc::clone(&snapshot), at, attributing.finder(), mode),
            lanes: lanes(&snapshot, timeline),
            attributing,
            attribution: None,
            name: String::new(),
            diagnosing: Diagnosing::new(Arc::clone(&snapshot), at),
            given_capacity: None,
            wanted_pane: None,
            shows_internal_frames: false,
            rasters: Rasters::new(Arc::clone(&snapshot), at, ctx, mode),
            raster_mode: mode,
            curves: Curves::new(timeline),
            panels: Panels::default(),
            contributors: None,
            facts: None,
            site_facts: None,
            editor_command: editor::DEFAULT_COMMAND.to_owned(),
            notice: None,
            oom: None,
            coloring: None,
            stack_colors: [None, None],
            figures,
            snapshot,
            at,
        }
    }

    /// The file; a handle, so that the rest of the state can change meanwhile.
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot)
    }

    /// Which of the snapshot's timelines this is.
    pub(super) fn index(&self) -> usize {
        self.at
    }

    /// Where pictures are painted.
    pub(super) fn raster_mode(&self) -> RasterMode {
        self.raster_mode
    }

    pub(super) fn timeline(&self) -> &Timeline {
        &self.snapshot.timelines[self.at]
    }

    /// What is selected.
    pub(super) fn selection(&self) -> Selection {
        self.selection
    }

    /// The selected allocation, if one is selected.
    pub(super) fn selected(&self) -> Option<AllocId> {
        match self.selection {
            Selection::Allocation(id) => Some(id),
            _ => None,
        }
    }

    /// The stack that is selected, or that of the selected allocation.
    pub(super) fn selected_stack(&self) -> Option<StackId> {
        match self.selection {
            Selection::Stack(stack) => Some(stack),
            Selection::Allocation(id) => {
                let Timeline { lifetimes, events, .. } = self.timeline();
                Some(lifetimes.stack(id, events))
            }
            _ => None,
        }
    }

    /// Start ranges at the cursor.
    pub(super) fn set_mark(&mut self) {
        self.panels.stacks.set_mark(self.cursor);
    }

    /// Select something else; the user can go back.
    pub(super) fn select(&mut self, selection: Selection) {
        if selection != self.selection {
            self.history.leave(self.place());
            self.selection = selection;
        }
    }

    /// Filter by another query; the user can go back.
    pub(super) fn filter(&mut self, query: String) {
        if query != self.filter_query {
            self.history.leave(self.place());
            self.filter_query = query;
        }
    }

    /// The query was written over `before`; the user can go back to that.
    pub(super) fn query_was_written(&mut self, before: String) {
        if before != self.filter_query {
            self.history.leave(Place { query: before, ..self.place() });
        }
    }

    /// Let the filter find what a stack's line allocates.
    pub(super) fn filter_to_site(&mut self, stack: StackId) {
        self.filter(format!("site:{}", quoted(&site_label(&self.snapshot, stack))));
    }

    /// Put the cursor on a moment and bring it into view; the user can go back.
    pub(super) fn go_to(&mut self, moment: Moment) {
        if moment != self.cursor {
            self.history.leave(self.place());
        }
        self.move_to(moment);
    }

    /// Put the cursor on a moment and select something there, in one step back.
    pub(super) fn show_at(&mut self, moment: Moment, selection: Selection) {
        if (moment, selection) != (self.cursor, self.selection) {
            self.history.leave(self.place());
        }
        self.selection = selection;
        self.move_to(moment);
    }

    /// What the report is asked.
    pub(super) fn question(&self) -> Question {
        self.diagnosing.question(self.given_capacity)
    }

    /// What happened and why, once it is found.
    pub(super) fn report(&mut self, ctx: &egui::Context) -> Option<Result<Arc<Report>, String>> {
        let (mode, capacity) = (self.raster_mode, self.given_capacity);
        self.diagnosing.get(ctx, mode, capacity)
    }

    /// Put the cursor on a moment without a way back, as while scrubbing.
    pub(super) fn move_to(&mut self, moment: Moment) {
        let last = self.timeline().moments().saturating_sub(1) as u32;
        self.cursor = Moment(moment.0.min(last));
        let (from, to) = self.view.on(self.timeline()).positions_of(self.cursor);
        self.view = self.view.showing(from, to, &self.full);
    }

    /// The most that PyTorch can reserve: as the user says, or as an OOM showed.
    pub(super) fn capacity(&self) -> Option<i64> {
        self.given_capacity.or(self.figures.capacity)
    }

    /// Where [`Self::capacity`] comes from.
    pub(super) fn capacity_meaning(&self) -> &'static str {
        if self.given_capacity.is_some() {
            "As given on the command line"
        } else {
            "Reserved when a request failed, and what the driver still had then"
        }
    }

    /// Take over what the user prefers.
    pub(super) fn prefer(&mut self, preferences: &Preferences) {
        self.given_capacity = preferences.capacity;
        if self.editor_command != preferences.editor_command {
            self.editor_command.clone_from(&preferences.editor_command);
        }
    }

    /// The place is about to change in small steps; the user can go back to it.
    pub(super) fn leave(&mut self) {
        self.history.leave(self.place());
    }

    /// Zoom at the cursor, or at the middle where the cursor is out of sight.
    pub(super) fn zoom(&mut self, factor: f64) {
        let x = self.view.on(self.timeline()).x_from_moment(f64::from(self.cursor.0) + 0.5);
        let x = if (0.0..=1.0).contains(&x) { x } else { 0.5 };
        self.view = self.view.zoom_at(x, 0.5, factor, 1.0, &self.full);
    }

    /// Move the view by a part of itself.
    pub(super) fn pan(&mut self, part: f64) {
        self.view = self.view.pan(part, 0.0, &self.full);
    }

    /// Show the time from an allocation to its free, with a little around it.
    pub(super) fn zoom_to_lifetime(&mut self, id: AllocId) {
        const AROUND: f64 = 0.08;
        let timeline = self.timeline();
        let scale = self.view.on(timeline);
        let end = timeline.lifetimes.end(id).unwrap_or(Moment(timeline.moments() as u32));
        let from = scale.position_from_moment(f64::from(timeline.lifetimes.start(id).0));
        let to = scale.position_from_moment(f64::from(end.0));
        let around = (to - from) * AROUND;
        self.show(self.view.of_range(from - around, to + around, &self.full));
    }

    /// Show another part of the timeline; the user can go back.
    pub(super) fn show(&mut self, view: View) {
        if view != self.view {
            self.history.leave(self.place());
            self.view = view;
        }
    }

    /// Move the cursor by events.
    pub(super) fn step(&mut self, by: i64) {
        let last = self.timeline().moments() as i64 - 1;
        self.move_to(Moment(i64::from(self.cursor.0).saturating_add(by).clamp(0, last) as u32));
    }

    pub(super) fn go_to_peak(&mut self) {
        self.go_to(self.figures.peak.0);
    }

    /// Go to the next OOM behind the cursor, or from the last to the first.
    pub(super) fn go_to_oom(&mut self) {
        let ooms = &self.timeline().ooms;
        let next = ooms.partition_point(|oom| Moment::after(oom.event) <= self.cursor);
        if let Some(oom) = ooms.get(next).or(ooms.first()) {
            self.go_to(Moment::after(oom.event));
        }
    }

    /// Show everything.
    pub(super) fn fit(&mut self) {
        self.show(self.full);
    }

    /// Show the time by events, or by the clock, with the same moments in sight.
    pub(super) fn set_axis(&mut self, axis: Axis) {
        if axis == self.view.axis || !self.timeline().times.has_times() {
            return;
        }
        let full = View::fit_on(self.timeline(), axis);
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
    pub(super) fn back(&mut self) {
        let place = self.history.back(self.place());
        self.return_to(place);
    }

    /// Undo [`Self::back`].
    pub(super) fn forward(&mut self) {
        let place = self.history.forward(self.place());
        self.return_to(place);
    }

    /// Whether there is a place before, and one after.
    pub(super) fn can_go(&self) -> (bool, bool) {
        (self.history.can_go_back(), self.history.can_go_forward())
    }

    fn place(&self) -> Place {
        let query = self.filter_query.clone();
        Place { cursor: self.cursor, selection: self.selection, view: self.view, query }
    }

    /// Be at a place, without a way back.
    pub(super) fn return_to(&mut self, place: Option<Place>) {
        let Some(place) = place else { return };
        self.set_axis(place.view.axis);
        (self.cursor, self.selection, self.view) = (place.cursor, place.selection, place.view);
        self.filter_query = place.query;
    }

    /// What the filter lets through; `None` where there is no filter. While a new query is being
    /// answered, this is still the result of the one before.
    pub(super) fn matches(&self) -> Option<&Arc<Matches>> {
        self.filtering.found().map(|found| &found.matches)
    }

    /// What allocations are for and where iterations lie, once it is found.
    pub(super) fn attribution(&mut self) -> Option<Arc<Attribution>> {
        if self.attribution.is_none()
            && let Some(found) = self.attributing.get()
        {
            let mut all = structure_lanes(self.timeline(), &found.phases);
            all.append(&mut self.lanes.lanes);
            self.lanes.lanes = all;
            self.facts = None;
            self.attribution = Some(found);
        }
        self.attribution.clone()
    }

    /// Colours of allocations in a theme.
    pub(super) fn coloring(&mut self, palette: &Palette) -> Arc<Coloring> {
        let attribution = self.attribution().filter(|_| self.color_by == ColorBy::Category);
        let key = (self.color_by, palette.is_dark, attribution.is_some());
        if let Some((known, coloring)) = &self.coloring
            && *known == key
        {
            return Arc::clone(coloring);
        }
        let stacks = &mut self.stack_colors[usize::from(palette.is_dark)];
        let stacks = stacks.get_or_insert_with(|| Arc::new(BandColors::new(&self.snapshot, palette)));
        let stacks = Arc::clone(stacks);
        let mut coloring = Coloring::new(self.color_by, self.timeline(), stacks, palette);
        if let Some(found) = attribution {
            coloring = coloring.with_attribution(found);
        }
        let coloring = Arc::new(coloring);
        self.coloring = Some((key, Arc::clone(&coloring)));
        coloring
    }

    /// What fills the memory at the cursor; computed when the cursor has moved or the filter changed.
    pub(super) fn contributors(&mut self, ctx: &egui::Context) -> &Contributors {
        let labels = cells::labels(ctx, self);
        let known = self.contributors.take();
        let known = known.filter(|known| known.answers(self.cursor, self.matches()));
        let find = || {
            let (matches, labels) = (self.matches().cloned(), labels.as_deref());
            Contributors::new(&self.snapshot, self.timeline(), self.cursor, matches, labels)
        };
        let found = known.unwrap_or_else(find);
        self.contributors.insert(found)
    }

    /// Facts about the selected allocation; put together when the selection has changed.
    pub(super) fn facts(&mut self) -> Option<&AllocationFacts> {
        let id = self.selected()?;
        let known = self.facts.take().filter(|known| known.id == id);
        let attribution = self.attribution();
        let find = || {
            let timeline = self.timeline();
            AllocationFacts::new(
                &self.snapshot,
                timeline,
                &self.figures,
                &self.lanes,
                attribution.as_deref(),
                id,
            )
        };
        let found = known.unwrap_or_else(find);
        Some(self.facts.insert(found))
    }

    /// Facts about the selected stack; put together when the selection has changed.
    pub(super) fn site_facts(&mut self) -> Option<&mut SiteFacts> {
        let Selection::Stack(stack) = self.selection else { return None };
        let known = self.site_facts.take().filter(|known| known.stack() == stack);
        let find = || SiteFacts::new(&self.snapshot, self.timeline(), stack, self.figures.peak.0);
        let found = known.unwrap_or_else(find);
        Some(self.site_facts.insert(found))
    }

    /// Say in the status bar what just happened.
    pub(super) fn notify(&mut self, notice: String) {
        self.notice = Some(notice);
    }

    /// The request that failed at the cursor.
    pub(super) fn oom(&mut self) -> Option<&OomFacts> {
        let event = self.cursor.event()?;
        let ooms = &self.timeline().ooms;
        let oom = ooms[ooms.binary_search_by_key(&event, |oom| oom.event).ok()?];
        let known = self.oom.take().filter(|known| known.event == event);
        let found = known.unwrap_or_else(|| OomFacts::new(&self.snapshot, self.timeline(), &oom));
        Some(self.oom.insert(found))
    }
}

impl Curves {
    fn new(timeline: &Timeline) -> Self {
        let points = |points: Vec<[f64; 2]>| points.into_iter().map(PlotPoint::from).collect();
        let reserved = totals::ranges(timeline.moments(), MAX_CURVE_POINTS);
        Self {
            active: points(decimate(&timeline.active, MAX_CURVE_POINTS)),
            allocated: points(decimate(&timeline.allocated, MAX_CURVE_POINTS)),
            reserved: reserved
                .map(|range| PlotPoint::new(range.start as f64, timeline.reserved.max_in(range) as f64))
                .collect(),
        }
    }
}
