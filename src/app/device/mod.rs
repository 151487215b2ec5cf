//! One device of an open file: what is shown of it, and what is remembered between frames.

mod travel;

use crate::analysis::filter::Matches;
use crate::analysis::{Attribution, Lanes, lanes, structure_lanes};
use crate::app::attribution::{Attributing, FileFacts, Finder};
use crate::app::details::allocation_facts::AllocationFacts;
use crate::app::details::contributors::Contributors;
use crate::app::details::editor;
use crate::app::details::facts::{Figures, OomFacts};
use crate::app::details::site_view::SiteFacts;
use crate::app::filter::work::{FilterMode, Filtering};
use crate::app::navigation::{History, Selection};
use crate::app::panes::Pane;
use crate::app::preferences::Preferences;
use crate::app::report_view::work::{Diagnosing, Report};
use crate::app::tables::cells::{self, Sites};
use crate::app::timeline::rasters::Rasters;
use crate::app::worker::{RasterMode, Setup};
use crate::app::{filter, segment_map, segment_timeline, stacks, tables, timeline, what_if};
use crate::diagnosis::Question;
use crate::draw::{BandColors, ColorBy, Coloring, Palette, View, decimate, totals};
use crate::model::{AllocId, Moment, Snapshot, StackId, Timeline};
use eframe::egui;
use egui_plot::PlotPoint;
use std::sync::Arc;

/// Points of a curve: more than most windows have columns.
const MAX_CURVE_POINTS: usize = 2000;

/// What the timeline stacks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::app) enum TimelineMode {
    /// Live allocations.
    #[default]
    Blocks,
    /// Reserved memory.
    Segments,
}

/// State of one device.
pub(in crate::app) struct DeviceState {
    snapshot: Arc<Snapshot>,
    at: usize,
    /// What does not change.
    pub(in crate::app) figures: Figures,
    /// What the timeline shows.
    pub(in crate::app) view: View,
    /// All there is to show.
    pub(in crate::app) full: View,
    /// Everything shows the state at this moment.
    pub(in crate::app) cursor: Moment,
    selection: Selection,
    history: History,
    /// What colours tell apart.
    pub(in crate::app) color_by: ColorBy,
    /// What the timeline stacks.
    pub(in crate::app) mode: TimelineMode,
    /// The filter as it is written.
    pub(in crate::app) filter_query: String,
    /// What happens to what it leaves out.
    pub(in crate::app) filter_mode: FilterMode,
    /// What the filter means and finds.
    pub(in crate::app) filtering: Filtering,
    /// Iterations and phases, once they are found, and annotations.
    pub(in crate::app) lanes: Lanes,
    attributing: Attributing,
    attribution: Option<Arc<Attribution>>,
    /// The file's name, as its tab says it.
    pub(in crate::app) name: String,
    /// What happened and why.
    pub(in crate::app) diagnosing: Diagnosing,
    /// Bytes that the user says the device has.
    given_capacity: Option<i64>,
    /// The pane to bring to the front in the next frame.
    pub(in crate::app) wanted_pane: Option<Pane>,
    /// Whether frames of torch and the interpreter are listed.
    pub(in crate::app) shows_internal_frames: bool,
    /// Pictures of the timeline.
    pub(in crate::app) rasters: Rasters,
    raster_mode: RasterMode,
    /// Decimated curves.
    pub(in crate::app) curves: Curves,
    /// What panels remember.
    pub(in crate::app) panels: Panels,
    contributors: Option<Contributors>,
    facts: Option<AllocationFacts>,
    site_facts: Option<SiteFacts>,
    /// How the user's editor is started.
    pub(in crate::app) editor_command: String,
    /// What just happened, for the status bar.
    pub(in crate::app) notice: Option<String>,
    oom: Option<OomFacts>,
    coloring: Option<(ColoringKey, Arc<Coloring>)>,
    stack_colors: [Option<Arc<BandColors>>; 2],
}

/// What colours are made for: what they tell apart, whether the theme is dark, and whether it is known
/// what allocations are for, where that matters.
type ColoringKey = (ColorBy, bool, bool);

/// What panels remember: one field per panel.
#[derive(Default)]
pub(in crate::app) struct Panels {
    pub(in crate::app) filter: filter::bar::State,
    pub(in crate::app) allocations: tables::allocations::State,
    pub(in crate::app) events: tables::events::State,
    /// Shared by both.
    pub(in crate::app) sites: Sites,
    pub(in crate::app) stacks: stacks::panel::State,
    pub(in crate::app) timeline: timeline::panel::State,
    pub(in crate::app) segments: segment_map::panel::State,
    pub(in crate::app) segment_timeline: segment_timeline::panel::State,
    pub(in crate::app) what_if: what_if::panel::State,
}

impl Panels {
    /// Take over from another version of the file what does not depend on its contents.
    pub(in crate::app) fn keep(&mut self, old: &Self) {
        self.allocations.keep(&old.allocations);
        self.events.keep(&old.events);
        self.segments.keep(&old.segments);
        self.stacks.keep(&old.stacks);
        self.segment_timeline.keep(&old.segment_timeline);
    }
}

/// Curves with few enough points to draw in every frame.
pub(in crate::app) struct Curves {
    pub(in crate::app) active: Vec<PlotPoint>,
    pub(in crate::app) allocated: Vec<PlotPoint>,
    pub(in crate::app) reserved: Vec<PlotPoint>,
}

impl DeviceState {
    pub(in crate::app) fn new(
        snapshot: Arc<Snapshot>,
        at: usize,
        facts: FileFacts,
        ctx: &egui::Context,
        setup: &Setup,
    ) -> Self {
        let mode = setup.mode;
        let timeline = &snapshot.timelines[at];
        let figures = Figures::new(&snapshot, timeline);
        let full = View::fit(timeline);
        let attributing = Attributing::new(Arc::clone(&snapshot), at, facts, ctx, setup);
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
            attribution: None,
            name: String::new(),
            diagnosing: Diagnosing::new(Arc::clone(&snapshot), at, attributing.finder()),
            attributing,
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
    pub(in crate::app) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot)
    }

    /// Which of the snapshot's timelines this is.
    pub(in crate::app) fn index(&self) -> usize {
        self.at
    }

    /// Where pictures are painted.
    pub(in crate::app) fn raster_mode(&self) -> RasterMode {
        self.raster_mode
    }

    pub(in crate::app) fn timeline(&self) -> &Timeline {
        &self.snapshot.timelines[self.at]
    }

    /// What is selected.
    pub(in crate::app) fn selection(&self) -> Selection {
        self.selection
    }

    /// The selected allocation, if one is selected.
    pub(in crate::app) fn selected(&self) -> Option<AllocId> {
        match self.selection {
            Selection::Allocation(id) => Some(id),
            _ => None,
        }
    }

    /// The stack that is selected, or that of the selected allocation.
    pub(in crate::app) fn selected_stack(&self) -> Option<StackId> {
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
    pub(in crate::app) fn set_mark(&mut self) {
        self.panels.stacks.set_mark(self.cursor);
    }

    /// What the report is asked.
    pub(in crate::app) fn question(&self) -> Question {
        self.diagnosing.question(self.given_capacity)
    }

    /// What happened and why, once it is found.
    pub(in crate::app) fn report(&mut self, ctx: &egui::Context) -> Option<Result<Arc<Report>, String>> {
        let (mode, capacity) = (self.raster_mode, self.given_capacity);
        self.diagnosing.get(ctx, mode, capacity)
    }

    /// The most that PyTorch can reserve: as the user says, or as an OOM showed.
    pub(in crate::app) fn capacity(&self) -> Option<i64> {
        self.given_capacity.or(self.figures.capacity)
    }

    /// Where [`Self::capacity`] comes from.
    pub(in crate::app) fn capacity_meaning(&self) -> &'static str {
        if self.given_capacity.is_some() {
            "As given on the command line"
        } else {
            "Reserved when a request failed, and what the driver still had then"
        }
    }

    /// Take over what the user prefers.
    pub(in crate::app) fn prefer(&mut self, preferences: &Preferences) {
        self.given_capacity = preferences.capacity;
        if self.editor_command != preferences.editor_command {
            self.editor_command.clone_from(&preferences.editor_command);
        }
    }

    /// What the filter lets through; `None` where there is no filter. While a new query is being
    /// answered, this is still the result of the one before.
    pub(in crate::app) fn matches(&self) -> Option<&Arc<Matches>> {
        self.filtering.found().map(|found| &found.matches)
    }

    /// What allocations are for and where iterations lie, once it is found.
    pub(in crate::app) fn attribution(&mut self) -> Option<Arc<Attribution>> {
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

    /// A handle to it for other threads.
    pub(in crate::app) fn finder(&self) -> Finder {
        self.attributing.finder()
    }

    /// Colours of allocations in a theme.
    pub(in crate::app) fn coloring(&mut self, palette: &Palette) -> Arc<Coloring> {
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
    pub(in crate::app) fn contributors(&mut self, ctx: &egui::Context) -> &Contributors {
        let labels = cells::labels(ctx, self);
        let known = self.contributors.take();
        let attribution = self.attribution();
        let known = known.filter(|known| known.answers(self.cursor, self.matches(), attribution.is_some()));
        let find = || {
            let (matches, labels) = (self.matches().cloned(), labels.as_deref());
            let timeline = self.timeline();
            Contributors::new(&self.snapshot, timeline, self.cursor, matches, labels, attribution.as_deref())
        };
        let found = known.unwrap_or_else(find);
        self.contributors.insert(found)
    }

    /// Facts about the selected allocation; put together when the selection has changed.
    pub(in crate::app) fn facts(&mut self) -> Option<&AllocationFacts> {
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
    pub(in crate::app) fn site_facts(&mut self) -> Option<&mut SiteFacts> {
        let Selection::Stack(stack) = self.selection else { return None };
        let known = self.site_facts.take().filter(|known| known.stack() == stack);
        let find = || SiteFacts::new(&self.snapshot, self.timeline(), stack, self.figures.peak.0);
        let found = known.unwrap_or_else(find);
        Some(self.site_facts.insert(found))
    }

    /// Say in the status bar what just happened.
    pub(in crate::app) fn notify(&mut self, notice: String) {
        self.notice = Some(notice);
    }

    /// The request that failed at the cursor.
    pub(in crate::app) fn oom(&mut self) -> Option<&OomFacts> {
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
