//! Moving about in a device: cursor, selection, view and query, and the way back.

use super::DeviceState;
use crate::analysis::filter::quoted;
use crate::analysis::site_label;
use crate::app::navigation::{Place, Selection};
use crate::draw::{Axis, View};
use crate::model::{AllocId, Moment, StackId};

impl DeviceState {
    /// Select something else; the user can go back.
    pub(in crate::app) fn select(&mut self, selection: Selection) {
        if selection != self.selection {
            self.history.leave(self.place());
            self.selection = selection;
        }
    }

    /// Filter by another query; the user can go back.
    pub(in crate::app) fn filter(&mut self, query: String) {
        if query != self.filter_query {
            self.history.leave(self.place());
            self.filter_query = query;
        }
    }

    /// Filter to a query, or take the filter away if it is that query.
    pub(in crate::app) fn toggle_filter(&mut self, query: String) {
        let is_there = self.filter_query == query;
        self.filter(if is_there { String::new() } else { query });
    }

    /// The query was written over `before`; the user can go back to that.
    pub(in crate::app) fn query_was_written(&mut self, before: String) {
        if before != self.filter_query {
            self.history.leave(Place { query: before, ..self.place() });
        }
    }

    /// Let the filter find what a stack's line allocates.
    pub(in crate::app) fn filter_to_site(&mut self, stack: StackId) {
        self.filter(format!("site:{}", quoted(&site_label(&self.snapshot, stack))));
    }

    /// Put the cursor on a moment and bring it into view; the user can go back.
    pub(in crate::app) fn go_to(&mut self, moment: Moment) {
        if moment != self.cursor {
            self.history.leave(self.place());
        }
        self.move_to(moment);
    }

    /// Put the cursor on a moment and select something there, in one step back.
    pub(in crate::app) fn show_at(&mut self, moment: Moment, selection: Selection) {
        if (moment, selection) != (self.cursor, self.selection) {
            self.history.leave(self.place());
        }
        self.selection = selection;
        self.move_to(moment);
    }

    /// Put the cursor on a moment without a way back, as while scrubbing.
    pub(in crate::app) fn move_to(&mut self, moment: Moment) {
        let last = self.timeline().moments().saturating_sub(1) as u32;
        self.cursor = Moment(moment.0.min(last));
        let (from, to) = self.view.on(self.timeline()).positions_of(self.cursor);
        self.view = self.view.showing(from, to, &self.full);
    }

    /// The place is about to change in small steps; the user can go back to it.
    pub(in crate::app) fn leave(&mut self) {
        self.history.leave(self.place());
    }

    /// Zoom at the cursor, or at the middle where the cursor is out of sight.
    pub(in crate::app) fn zoom(&mut self, factor: f64) {
        let x = self.view.on(self.timeline()).x_from_moment(f64::from(self.cursor.0) + 0.5);
        let x = if (0.0..=1.0).contains(&x) { x } else { 0.5 };
        self.view = self.view.zoom_at(x, 0.5, factor, 1.0, &self.full);
    }

    /// Move the view by a part of itself.
    pub(in crate::app) fn pan(&mut self, part: f64) {
        self.view = self.view.pan(part, 0.0, &self.full);
    }

    /// Show the time from an allocation to its free, with a little around it.
    pub(in crate::app) fn zoom_to_lifetime(&mut self, id: AllocId) {
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
    pub(in crate::app) fn show(&mut self, view: View) {
        if view != self.view {
            self.history.leave(self.place());
            self.view = view;
        }
    }

    /// Move the cursor by events.
    pub(in crate::app) fn step(&mut self, by: i64) {
        let last = self.timeline().moments() as i64 - 1;
        self.move_to(Moment(i64::from(self.cursor.0).saturating_add(by).clamp(0, last) as u32));
    }

    pub(in crate::app) fn go_to_peak(&mut self) {
        self.go_to(self.figures.peak.0);
    }

    /// Go to the next OOM behind the cursor, or from the last to the first.
    pub(in crate::app) fn go_to_oom(&mut self) {
        let ooms = &self.timeline().ooms;
        let next = ooms.partition_point(|oom| Moment::after(oom.event) <= self.cursor);
        if let Some(oom) = ooms.get(next).or(ooms.first()) {
            self.go_to(Moment::after(oom.event));
        }
    }

    /// Show everything.
    pub(in crate::app) fn fit(&mut self) {
        self.show(self.full);
    }

    /// Show the time by events, or by the clock, with the same moments in sight.
    pub(in crate::app) fn set_axis(&mut self, axis: Axis) {
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
    pub(in crate::app) fn back(&mut self) {
        let place = self.history.back(self.place());
        self.return_to(place);
    }

    /// Undo [`Self::back`].
    pub(in crate::app) fn forward(&mut self) {
        let place = self.history.forward(self.place());
        self.return_to(place);
    }

    /// Whether there is a place before, and one after.
    pub(in crate::app) fn can_go(&self) -> (bool, bool) {
        (self.history.can_go_back(), self.history.can_go_forward())
    }

    pub(super) fn place(&self) -> Place {
        let query = self.filter_query.clone();
        Place { cursor: self.cursor, selection: self.selection, view: self.view, query }
    }

    /// Be at a place, without a way back.
    pub(in crate::app) fn return_to(&mut self, place: Option<Place>) {
        let Some(place) = place else { return };
        self.set_axis(place.view.axis);
        (self.cursor, self.selection, self.view) = (place.cursor, place.selection, place.view);
        self.filter_query = place.query;
    }
}
