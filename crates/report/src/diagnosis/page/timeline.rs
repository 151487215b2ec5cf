//! The timeline of a page: the picture, and beside it the values at one instant. The script lets a reader choose the instant.

use super::figure::MarkKind;
use super::markup::Html;
use super::parts::{PageTimeline, Readings};

impl Html {
    /// Write the timeline with what is read from it.
    pub(super) fn timeline(&mut self, timeline: &PageTimeline) {
        let PageTimeline { picture, readings } = timeline;
        self.element("<section class=\"card info\">\n<h2>", &picture.title, "</h2>\n");
        self.markup("<figure id=\"over-time\">\n<div id=\"plot\">");
        let description = readings.as_ref().map(|readings| readings.figure.description());
        self.drawings(picture, description.as_ref().unwrap_or(&picture.title));
        // The script shows it where the reader points.
        self.markup("<div id=\"cursor\" hidden></div></div>\n");
        if let Some(readings) = readings {
            self.readings(readings);
        }
        self.markup("</figure>\n");
        if let Some(readings) = readings {
            self.markup("<script type=\"application/json\" id=\"memory\">");
            self.computed(&readings.data());
            self.markup("</script>\n");
        }
        self.markup("</section>\n");
    }

    /// The values at the moment of the report, and how others are chosen.
    fn readings(&mut self, readings: &Readings) {
        readings.figure.readout(self);
        self.markup("<figcaption id=\"hint\" class=\"quiet\" hidden>");
        self.markup(
            "Point at the picture or use the arrow keys, with Shift for larger steps; P goes to the peak",
        );
        let has_failed = readings.figure.marks.iter().any(|mark| mark.kind == MarkKind::OutOfMemory);
        self.markup(if has_failed { ", O to the request that failed" } else { "" });
        self.markup(". Each place shows the instant at which most was active.</figcaption>\n");
    }
}
