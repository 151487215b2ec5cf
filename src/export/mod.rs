//! Whole pictures of a device, as the command line writes them and the window exports them: what
//! [`draw`](crate::draw) paints, with the words of [`report`](crate::report).
//!
//! This layer knows no files, no arguments and no panels. The same [`Shot`] gives the same bytes.

mod addresses;
mod curves;
mod segments;
mod stacked;

use crate::analysis::capacity;
use crate::analysis::filter::Matches;
use crate::draw::picture::{Caption, Entry, Mark, Page, Selected, Sheet, SiteList, png};
use crate::draw::software::Pixels;
use crate::draw::{ColorBy, Coloring, Kept, Palette, View};
use crate::model::{AllocId, Moment, Snapshot, Timeline};
use crate::{report, units};
use std::sync::Arc;
use thiserror::Error;

/// What a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Live allocations over time, stacked.
    Timeline,
    /// Reserved memory over time, stacked.
    Reserved,
    /// The totals over time as lines.
    Curves,
    /// What every reserved byte is used for at the moment.
    Segments,
    /// Addresses over time, a row per segment.
    Addresses,
}

impl What {
    /// Whether a filter changes it. Totals and reserved memory are what they are.
    pub fn is_filtered(self) -> bool {
        !matches!(self, Self::Curves | Self::Reserved)
    }
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

/// A filter and what it finds.
#[derive(Clone)]
pub struct Filtered {
    /// The query, for the caption.
    pub query: String,
    /// What it finds.
    pub matches: Arc<Matches>,
    /// Whether the rest is left out where that makes sense; else it is faded.
    pub is_alone: bool,
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
    /// The filter.
    pub filter: Option<Filtered>,
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
            What::Timeline => stacked::blocks(self, timeline, sheet),
            What::Reserved => stacked::reserved(self, timeline, sheet),
            What::Curves => curves::paint(self, timeline, sheet),
            What::Segments => segments::paint(self, timeline, sheet),
            What::Addresses => addresses::paint(self, timeline, sheet),
        }
    }

    fn page(&self, timeline: &Timeline, mut legend: Vec<Entry>) -> Page {
        let title = units::printable(units::basename(&self.name));
        let headline = report::headline(timeline, self.snapshot.damage.is_some());
        let mut lines = report::caption_lines(&self.snapshot, timeline, self.moment);
        if let Some(Filtered { query, matches, .. }) = self.filter() {
            let (found, all) = (matches.count() as u64, timeline.lifetimes.len() as u64);
            let (found, all) = (units::count(found), units::count(all));
            lines.push(format!("Filter: {} · {found} of {all} allocations", units::printable(query)));
        }
        if self.what.is_filtered() {
            let keys = self.coloring.keys(&self.snapshot, timeline).into_iter();
            legend.extend(keys.map(|key| Entry::new(Mark::Area, key.color, key.label)));
        }
        Page { caption: Caption { title, headline, lines }, legend }
    }

    /// What fills the memory at the moment.
    fn sites(&self, timeline: &Timeline) -> SiteList {
        let heading = report::moment_name(timeline, self.moment);
        let coloring =
            (self.coloring.by() == ColorBy::Stack && self.what != What::Reserved).then_some(&*self.coloring);
        let contains = |id| self.contains(id);
        let kept = self.filter.as_ref().map(|_| &contains as &dyn Fn(AllocId) -> bool);
        SiteList::new(&self.snapshot, timeline, self.moment, heading, coloring, kept)
    }

    /// The filter, if what is shown depends on one.
    fn filter(&self) -> Option<&Filtered> {
        self.filter.as_ref().filter(|_| self.what.is_filtered())
    }

    fn contains(&self, id: AllocId) -> bool {
        self.filter().is_none_or(|filter| filter.matches.contains(id))
    }

    /// The filter as the bands want it; `contains` is [`Self::contains`].
    fn kept<'a>(&self, contains: &'a (dyn Fn(AllocId) -> bool + Sync)) -> Option<Kept<'a>> {
        self.filter().map(|filter| Kept { contains, is_alone: filter.is_alone })
    }

    fn capacity(&self, timeline: &Timeline) -> Option<i64> {
        self.capacity.or_else(|| capacity(timeline))
    }

    fn cursor(&self) -> Option<Moment> {
        self.has_cursor.then_some(self.moment)
    }
}
