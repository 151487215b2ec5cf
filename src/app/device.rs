//! One device of an open file: what is shown of it, and what is remembered between frames.

use super::contributors::Contributors;
use super::facts::{AllocationFacts, Figures, OomFacts};
use super::rasters::{RasterMode, Rasters};
use crate::draw::{View, decimate, totals};
use crate::model::{AllocId, EventIx, Moment, Snapshot, Timeline};
use eframe::egui;
use egui_plot::PlotPoint;
use std::sync::Arc;

/// Points of a curve: more than most windows have columns.
const MAX_CURVE_POINTS: usize = 2000;

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
    selected: Option<AllocId>,
    /// Whether frames of torch and the interpreter are listed.
    pub(super) shows_internal_frames: bool,
    /// Pictures of the timeline.
    pub(super) rasters: Rasters,
    /// Decimated curves.
    pub(super) curves: Curves,
    contributors: Option<Contributors>,
    facts: Option<AllocationFacts>,
    oom: Option<OomFacts>,
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
        let last_oom = timeline.ooms.last().map(|oom| Moment::after(oom.event));
        Self {
            view: full,
            full,
            cursor: last_oom.unwrap_or(figures.peak.0),
            selected: None,
            shows_internal_frames: false,
            rasters: Rasters::new(Arc::clone(&snapshot), at, ctx, mode),
            curves: Curves::new(timeline),
            contributors: None,
            facts: None,
            oom: None,
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

    pub(super) fn timeline(&self) -> &Timeline {
        &self.snapshot.timelines[self.at]
    }

    pub(super) fn selected(&self) -> Option<AllocId> {
        self.selected
    }

    pub(super) fn select(&mut self, id: Option<AllocId>) {
        self.selected = id;
    }

    /// Put the cursor on a moment and bring it into view.
    pub(super) fn go_to(&mut self, moment: Moment) {
        self.cursor = moment;
        self.view = self.view.showing(moment, &self.full);
    }

    /// Move the cursor by events.
    pub(super) fn step(&mut self, by: i64) {
        let last = self.timeline().moments() as i64 - 1;
        self.go_to(Moment((i64::from(self.cursor.0) + by).clamp(0, last) as u32));
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
        self.view = self.full;
    }

    /// What fills the memory at the cursor; computed when the cursor has moved.
    pub(super) fn contributors(&mut self) -> &Contributors {
        let known = self.contributors.take().filter(|known| known.moment == self.cursor);
        let found = known.unwrap_or_else(|| Contributors::new(&self.snapshot, self.timeline(), self.cursor));
        self.contributors.insert(found)
    }

    /// Facts about the selected allocation; put together when the selection has changed.
    pub(super) fn facts(&mut self) -> Option<&AllocationFacts> {
        let id = self.selected?;
        let known = self.facts.take().filter(|known| known.id == id);
        let found =
            known.unwrap_or_else(|| AllocationFacts::new(&self.snapshot, self.timeline(), &self.figures, id));
        Some(self.facts.insert(found))
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

    /// Time since the first event.
    pub(super) fn time_of(&self, event: EventIx) -> Option<i64> {
        self.figures.time_of(self.timeline(), event)
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
