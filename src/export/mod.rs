//! Whole pictures of a device, as the command line writes them and the window exports them: what
//! [`crate::draw`] paints, with the words of [`crate::report`].
//!
//! This layer knows no files, no arguments and no panels. The same [`Shot`] gives the same bytes.

mod addresses;
mod curves;
mod in_report;
mod segments;
mod stacked;
mod stacks;

pub use in_report::report_pictures;
pub use stacks::StacksView;

use crate::analysis::filter::Matches;
use crate::analysis::{Attribution, Lanes, capacity, lanes, structure_lanes};
use crate::draw::picture::{Caption, Entry, Mark, Page, Selected, Sheet, SiteList, png};
use crate::draw::segment_map::Look;
use crate::draw::software::Pixels;
use crate::draw::{ArrangedRows, ColorBy, Coloring, Kept, Palette, View};
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
    /// Where memory was allocated, as a flame graph.
    Stacks,
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Pixels.
    Png,
    /// Shapes and a script that browsers can zoom and search. Of [`What::Stacks`] only.
    Svg,
}

impl Format {
    /// The extension of such files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Svg => "svg",
        }
    }
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
    /// It is not a flame graph.
    #[error("only the flame graph can be an SVG file")]
    NotSvg,
    /// The flame graph could not be written.
    #[error("the flame graph cannot be written as SVG ({0})")]
    Svg(#[from] std::io::Error),
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
    /// Iterations and phases, where they are shown.
    pub attribution: Option<Arc<Attribution>>,
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
    /// How the memory map is arranged, and which part is shown.
    pub map: Look,
    /// How rows of addresses are arranged, if not as many as fit, the largest first.
    pub rows: Option<ArrangedRows>,
    /// What the flame graph weighs.
    pub stacks: StacksView,
    /// Bytes that the device can reserve at most, if that is not to be found in the recording.
    pub capacity: Option<i64>,
    /// The theme.
    pub palette: &'static Palette,
}

impl Shot {
    /// Paint it as a file. An SVG has a size of its own.
    ///
    /// # Errors
    /// If the device is not in the snapshot, the size is 0, or the picture cannot be had in the format.
    pub fn file(&self, format: Format, size_points: [f32; 2], scale: f32) -> Result<Vec<u8>, ExportError> {
        let timeline = self.snapshot.timelines.get(self.at).ok_or(ExportError::NoDevice)?;
        match (format, self.what) {
            (Format::Png, _) => {
                let sheet = Sheet { size: size_points.into(), scale, palette: self.palette };
                Ok(png(&self.paint(timeline, &sheet))?)
            }
            (Format::Svg, What::Stacks) => stacks::svg(self, timeline),
            (Format::Svg, _) => Err(ExportError::NotSvg),
        }
    }

    fn paint(&self, timeline: &Timeline, sheet: &Sheet<'_>) -> Pixels {
        match self.what {
            What::Timeline => stacked::blocks(self, timeline, sheet),
            What::Reserved => stacked::reserved(self, timeline, sheet),
            What::Curves => curves::paint(self, timeline, sheet),
            What::Segments => segments::paint(self, timeline, sheet),
            What::Addresses => addresses::paint(self, timeline, sheet),
            What::Stacks => stacks::paint(self, timeline, sheet),
        }
    }

    fn page(&self, timeline: &Timeline, mut legend: Vec<Entry>) -> Page {
        let title = units::printable(units::basename(&self.name));
        let headline = report::headline(timeline, self.snapshot.damage.is_some());
        let mut lines = report::caption_lines(&self.snapshot, timeline, self.moment);
        lines.extend(self.filter_text(timeline));
        if self.has_band_colors() {
            let keys = self.coloring.keys(timeline).into_iter();
            legend.extend(keys.map(|key| Entry::new(Mark::Area, key.color, key.label)));
        }
        Page { caption: Caption { title, headline, lines }, legend }
    }

    fn filter_text(&self, timeline: &Timeline) -> Option<String> {
        let Filtered { query, matches, .. } = self.filter()?;
        let [found, all] = [matches.count(), timeline.lifetimes.len()].map(|n| units::count(n as u64));
        Some(format!("Filter: {} · {found} of {all} allocations", units::printable(query)))
    }

    /// Whether allocations have the colours of `coloring`.
    fn has_band_colors(&self) -> bool {
        !matches!(self.what, What::Curves | What::Reserved | What::Stacks)
    }

    /// What fills the memory at the moment.
    fn sites(&self, timeline: &Timeline) -> SiteList {
        let heading = report::moment_name(timeline, self.moment);
        let by_stack = self.coloring.by() == ColorBy::Stack && self.what != What::Stacks;
        let coloring = by_stack.then_some(&*self.coloring);
        let contains = |id| self.contains(id);
        let kept = self.filter().map(|_| &contains as &dyn Fn(AllocId) -> bool);
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

    /// Iterations and phases, and annotations below them.
    fn lanes(&self, timeline: &Timeline) -> Lanes {
        let mut all = lanes(&self.snapshot, timeline);
        if let Some(found) = &self.attribution {
            let annotated = std::mem::replace(&mut all.lanes, structure_lanes(timeline, &found.phases));
            all.lanes.extend(annotated);
        }
        all
    }

    fn capacity(&self, timeline: &Timeline) -> Option<i64> {
        self.capacity.or_else(|| capacity(timeline))
    }

    fn cursor(&self) -> Option<Moment> {
        self.has_cursor.then_some(self.moment)
    }
}
