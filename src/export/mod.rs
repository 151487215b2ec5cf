//! Whole pictures of a device, as the command line writes them and the window exports them: what
//! [`draw`](crate::draw) paints, with the words of [`report`](crate::report).
//!
//! This layer knows no files, no arguments and no panels. The same [`Shot`] gives the same bytes.

mod curves;
mod stacked;

use crate::analysis::capacity;
use crate::draw::picture::{Caption, Entry, Page, Selected, Sheet, png};
use crate::draw::software::Pixels;
use crate::draw::{Coloring, Palette, View};
use crate::model::{Moment, Snapshot, Timeline};
use crate::{report, units};
use std::sync::Arc;
use thiserror::Error;

/// What a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Live allocations over time, stacked.
    Timeline,
    /// The totals over time as lines.
    Curves,
}

/// Why there is no picture.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The snapshot has no such device.
    #[error("the device is not in the snapshot")]
    NoDevice,
    /// The picture has no pixels.
    #[error("the picture cannot be encoded")]
    Encoding(#[from] ::png::EncodingError),
}

/// Everything that a picture depends on, but its size.
#[derive(Clone)]
pub struct Shot {
    /// The file.
    pub snapshot: Arc<Snapshot>,
    /// Which of its timelines.
    pub at: usize,
    /// The file's name.
    pub name: String,
    /// What to show.
    pub what: What,
    /// Which part of the timeline.
    pub view: View,
    /// The colours of allocations.
    pub coloring: Arc<Coloring>,
    /// What the caption and the list of sites are about.
    pub moment: Moment,
    /// Whether the moment is marked, too.
    pub has_cursor: bool,
    /// What is selected.
    pub selected: Selected,
    /// Bytes that the device can reserve at most, if that is not to be found in the recording.
    pub capacity: Option<i64>,
    /// The theme.
    pub palette: &'static Palette,
}

impl Shot {
    /// Paint it as a PNG file.
    ///
    /// # Errors
    /// If the device is not in the snapshot, or the size is 0.
    pub fn png(&self, size_points: [f32; 2], scale: f32) -> Result<Vec<u8>, ExportError> {
        let timeline = self.snapshot.timelines.get(self.at).ok_or(ExportError::NoDevice)?;
        let sheet = Sheet { size: size_points.into(), scale, palette: self.palette };
        Ok(png(&self.paint(timeline, &sheet))?)
    }

    fn paint(&self, timeline: &Timeline, sheet: &Sheet<'_>) -> Pixels {
        match self.what {
            What::Timeline => stacked::paint(self, timeline, sheet),
            What::Curves => curves::paint(self, timeline, sheet),
        }
    }

    fn page(&self, timeline: &Timeline, legend: Vec<Entry>) -> Page {
        let title = units::printable(units::basename(&self.name));
        let headline = report::headline(timeline, self.snapshot.damage.is_some());
        let lines = report::caption_lines(&self.snapshot, timeline, self.moment);
        Page { caption: Caption { title, headline, lines }, legend }
    }

    fn capacity(&self, timeline: &Timeline) -> Option<i64> {
        self.capacity.or_else(|| capacity(timeline))
    }

    fn cursor(&self) -> Option<Moment> {
        self.has_cursor.then_some(self.moment)
    }
}
