//! The values at a place of the timeline, in words. The script writes the same for other places.

use super::bars::{self, BarPart};
use super::figure::{FigureInstant, FigureMark, MarkKind, MemoryFigure};
use super::markup::Html;
use crate::{CATEGORY_LEGEND, category_amount};
use oomscope_model::Bytes;
use oomscope_units as units;

impl FigureMark {
    /// The mark as a heading: `Out of memory, at event 2,528`.
    pub(super) fn title(&self) -> String {
        let Some(event) = self.instant.moment.event() else { return "Before the first event".to_owned() };
        let number = units::count(event.0);
        match self.kind {
            MarkKind::Peak => format!("At the peak, after event {number}"),
            MarkKind::OutOfMemory => format!("Out of memory, at event {number}"),
            MarkKind::Report => format!("After event {number}"),
        }
    }
}

impl MemoryFigure {
    /// The figure in a sentence or two, for those who do not see it.
    pub(super) fn description(&self) -> String {
        let events = units::counted(self.moments.saturating_sub(1), "event");
        let what = format!(
            "Active memory over {events}, stacked by what it is for, with the totals of allocated and reserved memory."
        );
        let named = self.marks.iter().filter(|mark| mark.kind != MarkKind::Report);
        let marks =
            named.map(|mark| format!("{}: {} active.", mark.title(), units::bytes(mark.instant.active)));
        std::iter::once(what).chain(marks).collect::<Vec<_>>().join(" ")
    }

    /// The bytes of a full bar: the most that there ever was.
    pub(super) fn full_bytes(&self) -> Bytes {
        let totals = self.instants().flat_map(|instant| [instant.active, instant.reserved]);
        totals.max().unwrap_or_default()
    }

    /// Write the values at the moment of the report, and the legend with them.
    pub(super) fn readout(&self, page: &mut Html) {
        let Some(mark) = self.marks.get(self.at) else { return };
        let instant = &mark.instant;
        page.markup("<div id=\"readout\">\n");
        page.element("<p id=\"when\">", &mark.title(), "</p>\n");
        page.element("<p id=\"where\" class=\"quiet\">", &self.place(instant), "</p>\n<table>\n");
        let full = self.full_bytes();
        for category in self.categories().into_iter().rev() {
            let found = instant.categories.iter().find(|of| of.category == category);
            let amount = found.map_or_else(|| units::bytes(0), category_amount);
            let bytes = found.map_or(Bytes::ZERO, |of| of.bytes);
            page.markup("<tr class=\"band\">");
            page.bar(&[BarPart { share: bars::share(bytes, full), fill: bars::fill(category) }]);
            page.element("<td>", category.label(), "</td>");
            page.element("<td class=\"n\">", &amount, "</td>");
            page.element("<td class=\"n quiet\">", &units::percent(bytes, instant.active), "</td></tr>\n");
        }
        let totals =
            [("active", instant.active), ("allocated", instant.allocated), ("reserved", instant.reserved)];
        for (name, bytes) in totals {
            page.markup("<tr class=\"total\">");
            page.bar(&[BarPart { share: bars::share(bytes, full), fill: format!("fill-{name}") }]);
            page.element("<td>", name, "</td>");
            page.element("<td class=\"n\">", &units::bytes(bytes), "</td><td></td></tr>\n");
        }
        page.markup("</table>\n");
        if self.instants().any(|instant| instant.categories.iter().any(|of| of.inferred_bytes != 0)) {
            page.element("<p class=\"quiet\">", CATEGORY_LEGEND, "</p>\n");
        }
        page.markup("</div>\n");
    }

    /// The time, and what the program did: `32.0 ms · eval of iteration 15`.
    fn place(&self, instant: &FigureInstant) -> String {
        let time = instant.time_us.map(units::duration_us);
        let iteration = instant.iteration.map(|number| {
            let of = if self.is_numbered { "" } else { " of the recording" };
            format!("iteration {number}{of}")
        });
        let activity = match (instant.phase, iteration) {
            (Some(phase), Some(iteration)) => Some(format!("{phase} of {iteration}")),
            (phase, iteration) => iteration.or(phase.map(str::to_owned)),
        };
        time.into_iter().chain(activity).collect::<Vec<_>>().join(" · ")
    }
}
