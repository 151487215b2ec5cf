//! The names of bands that have the room: how large a block is, and which line made it.

use super::bands::{BandTexture, Bands as _, Blocks};
use super::canvas::TimelineCanvas;
use super::marks::{MarkLabels, axis_font};
use super::stacked::Pixel;
use super::timeline_raster::TimelineRaster;
use super::{PixelSpan, Raster};
use crate::{Palette, Rgb};
use egui::{Color32, Galley, Rect, pos2, vec2};
use oomscope_analysis::site_label;
use oomscope_model::{AllocId, Snapshot};
use oomscope_units as units;
use std::collections::HashMap;
use std::sync::Arc;

/// Names in a picture at most, the largest places first: more would be a text, not a picture.
const MAX_LABELS: usize = 24;

/// The height of a line of text, and the width of a size, in points: less room shows no name.
const MIN_HEIGHT_PX: f32 = 15.0;
const MIN_WIDTH_PX: f32 = 56.0;

/// Space around a name, in points.
const INSET_PX: f32 = 4.0;

/// The name of a band.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BandLabel {
    /// The largest place of the band.
    pub span: PixelSpan,
    /// `1.41 GiB model.py:57 forward`, and the size alone for less room.
    pub texts: [String; 2],
    /// The colour of the band.
    ground: Rgb,
}

impl BandLabel {
    /// The names of the blocks that have most room in a picture with so many pixels for a point. Blocks that fade have none.
    pub fn of(raster: &Raster, blocks: &Blocks<'_>, snapshot: &Snapshot, px_per_point: f32) -> Vec<Self> {
        let timeline = blocks.timeline;
        let is_named = |id: AllocId| id.index() < timeline.lifetimes.len() && !blocks.share(id).is_faded;
        // Lines of a surface would run through the letters.
        let is_plain = |id: AllocId, span: &PixelSpan| {
            let last = raster.moments.get(span.x[1] - 1).copied().flatten();
            last.is_none_or(|moment| blocks.fill(id.0, moment).texture == BandTexture::Plain)
        };
        let least = [MIN_WIDTH_PX, MIN_HEIGHT_PX].map(|px| ((px * px_per_point).ceil() as usize).max(1));
        let mut largest: HashMap<AllocId, PixelSpan> = HashMap::new();
        let mut last: HashMap<AllocId, PixelSpan> = HashMap::new();
        // A place with room has a point of a grid in it whose meshes are half as wide and as high.
        let [step_x, step_y] = least.map(|px| px.div_ceil(2));
        for y in (0..raster.size_px[1]).step_by(step_y) {
            for x in (0..raster.size_px[0]).step_by(step_x) {
                let Pixel::Block(id) = raster.pixel(x, y) else { continue };
                if last.get(&id).is_some_and(|span| contains(span, x, y)) || !is_named(id) {
                    continue;
                }
                let span = raster.place_around(id, x, y);
                last.insert(id, span);
                let [width, height] = lengths(&span);
                if least[0] <= width && least[1] <= height && is_plain(id, &span) {
                    let known = largest.entry(id).or_insert(span);
                    if area(known) < area(&span) {
                        *known = span;
                    }
                }
            }
        }
        let mut found: Vec<(AllocId, PixelSpan)> = largest.into_iter().collect();
        found.sort_unstable_by_key(|&(id, span)| (std::cmp::Reverse(area(&span)), id));
        found.truncate(MAX_LABELS);
        let label = |(id, span): (AllocId, PixelSpan)| {
            let [size, line] = [units::bytes(timeline.size(id)), site_label(snapshot, timeline.stack(id))];
            let text = units::printable(&format!("{size} {line}"));
            Self { span, texts: [text, size], ground: blocks.coloring.color(timeline, id) }
        };
        found.into_iter().map(label).collect()
    }
}

fn contains(span: &PixelSpan, x: usize, y: usize) -> bool {
    (span.x[0]..span.x[1]).contains(&x) && (span.y[0]..span.y[1]).contains(&y)
}

fn lengths(span: &PixelSpan) -> [usize; 2] {
    [span.x[1] - span.x[0], span.y[1] - span.y[0]]
}

fn area(span: &PixelSpan) -> usize {
    lengths(span).into_iter().product()
}

impl TimelineCanvas<'_> {
    /// Paint the names of bands of a picture, where no label of a mark will lie.
    pub fn band_labels(&self, picture: &TimelineRaster, labels: &[BandLabel], marks: &MarkLabels) {
        if picture.view != *self.view {
            // Another picture is on its way, and text does not stretch.
            return;
        }
        let painter = self.inside();
        for label in labels {
            let place = self.place(picture, &label.span).intersect(self.rect);
            let color = Color32::from(Palette::text_on(label.ground));
            // Half a name says nothing.
            let mut galleys =
                label.texts.iter().map(|text| painter.layout_no_wrap(text.clone(), axis_font(), color));
            let room = vec2(place.width() - 2.0 * INSET_PX, place.height());
            let fits = |galley: &Arc<Galley>| galley.size().x <= room.x && galley.size().y <= room.y;
            if let Some(galley) = galleys.find(fits) {
                let at = pos2(place.left() + INSET_PX, place.center().y - galley.size().y / 2.0);
                if marks.is_free(Rect::from_min_size(at, galley.size())) {
                    painter.galley(at, galley, color);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::bands::BlockFilter;
    use crate::{BandColors, ColorBy, Coloring, View, raster};
    use oomscope_fixtures::timelines::{Step, timeline};
    use std::sync::Arc;

    #[test]
    fn large_blocks_are_named_unless_they_fade_or_wait() {
        let mib = 1 << 20;
        let steps: Vec<Step> = (0..3)
            .map(|slot| Step::Alloc(slot, 100 * mib))
            .chain((3..40).map(|slot| Step::Alloc(slot, mib)))
            .chain([Step::Request(2, 100 * mib)])
            .chain((40..80).map(|slot| Step::Alloc(slot, mib)))
            .collect();
        let timeline = timeline(&steps);
        let snapshot = Snapshot::default();
        let stacks = Arc::new(BandColors::new(&snapshot, &Palette::DARK));
        let coloring = Coloring::new(ColorBy::Size, &timeline, stacks, &Palette::DARK);
        let named = |filter: Option<BlockFilter<'_>>, px_per_point| {
            let blocks = Blocks { timeline: &timeline, coloring: &coloring, filter };
            let raster = raster(&timeline, &View::fit(&timeline), [400, 200], &Palette::DARK, &blocks);
            let labels = BandLabel::of(&raster, &blocks, &snapshot, px_per_point);
            let mut names: Vec<String> =
                labels.into_iter().map(|label| label.texts.into_iter().next().expect("a name")).collect();
            names.sort();
            names
        };
        // The third waits for a stream from the middle on.
        assert_eq!(named(None, 1.0), ["100 MiB no stack recorded"; 2]);
        let keeps_first = |id: AllocId| id.0 == 0;
        let filter = BlockFilter { contains: &keeps_first, hides_rest: false };
        assert_eq!(named(Some(filter), 1.0), ["100 MiB no stack recorded"]);
        assert!(named(None, 8.0).is_empty(), "they are too small for text on such a screen");
    }
}
