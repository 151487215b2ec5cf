//! A picture of the timeline: stacked bands with their axes, totals and marks.

use super::{LegendEntry, LegendMark, Page, PictureSheet, SiteList};
use crate::software::Pixels;
use crate::{
    Axis, BandLabel, Bands, Blocks, Future, LANE_PX, Mark, MarkLabels, MarkedSpan, Palette, TimelineCanvas,
    TimelineRaster, View,
};
use egui::emath::GuiRounding as _;
use egui::{ColorImage, Rect, TextureHandle, TextureOptions, Ui, pos2};
use oomscope_analysis::Lanes;
use oomscope_model::allocator_sizes::MIN_BLOCK_SIZE;
use oomscope_model::{AllocId, Bytes, Moment, Recording, StackId, Timeline};

/// Room in points for the labels of the y axis.
const Y_LABELS_PT: f32 = 64.0;

/// Room in points for the labels of the x axis.
const X_LABELS_PT: f32 = 24.0;

/// Least height in points that lanes leave for the bands.
const MIN_BANDS_PT: f32 = 80.0;

/// Height of the picture as a multiple of the highest total, so that it does not touch the edge.
const HEADROOM: f64 = 1.06;

/// The content of a picture of the timeline.
#[derive(Clone, Copy)]
pub struct TimelinePicture<'a, B> {
    /// The device.
    pub recording: &'a Recording,
    /// The part of it that is shown.
    pub view: View,
    /// The bands that are stacked.
    pub bands: &'a B,
    /// The blocks whose names stand in their bands; `None` where bands are no blocks.
    pub named: Option<&'a Blocks<'a>>,
    /// Annotations.
    pub lanes: &'a Lanes,
    /// Bytes that the device can reserve at most; `None` if that is unknown.
    pub capacity: Option<Bytes>,
    /// The moment of the cursor; `None` for a picture without one.
    pub cursor: Option<Moment>,
    /// The selected allocation or stack.
    pub selected: Selected,
    /// What is projected behind it.
    pub future: &'a Future,
    /// The memory that is marked; then `bands` fade the rest.
    pub mark: Option<Mark<'a>>,
    /// The list of sites beside the timeline.
    pub sites: Option<&'a SiteList>,
}

/// The selection of a picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Selected {
    /// Nothing.
    #[default]
    None,
    /// An allocation: outlined.
    Allocation(AllocId),
    /// All allocations of a stack: lighter.
    Stack(StackId),
}

/// The places of the parts.
#[derive(Clone, Copy, PartialEq)]
struct Places {
    lanes: Rect,
    picture: Rect,
}

/// The place of the bands on a sheet, as parts of its width and height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandsPlace {
    /// Left and right.
    pub x: [f64; 2],
    /// Top and bottom.
    pub y: [f64; 2],
}

impl BandsPlace {
    fn on(sheet: &PictureSheet<'_>, rect: Rect) -> Self {
        let part = |at: f32, whole: f32| f64::from(at / whole.max(1.0));
        Self {
            x: [rect.left(), rect.right()].map(|x| part(x, sheet.size.x)),
            y: [rect.top(), rect.bottom()].map(|y| part(y, sheet.size.y)),
        }
    }
}

/// A view of the moments from the first to before the second, as high as their totals; of the whole timeline, and what is projected
/// behind it, for `None`.
pub fn view_of(timeline: &Timeline, axis: Axis, future: &Future, moments: Option<[Moment; 2]>) -> View {
    let full = View::fit_on(timeline, axis);
    let Some([start, end]) = moments else { return future.behind(full, timeline) };
    let position = |moment: Moment| full.on(timeline).position_from_moment(f64::from(moment.0));
    let view = full.of_range(position(start), position(end), &full);
    let moments = start.index()..end.index().min(timeline.moments());
    let active = timeline.active.peak_in(moments.clone()).map_or(Bytes::ZERO, |(_, bytes)| bytes);
    let failed = timeline.ooms.iter().map(|oom| (Moment::after(oom.event), oom.requested.or_zero()));
    let failed = failed
        .filter(|(at, _)| moments.contains(&at.index()))
        .map(|(at, requested)| timeline.active.at(at) + requested);
    let top = failed.fold(active.max(timeline.reserved.max_in(moments.clone())), Bytes::max);
    View { y1: (top.as_f64() * HEADROOM).max(view.y0 + MIN_BLOCK_SIZE.as_f64()).min(full.y1), ..view }
}

/// The legend of the lines and marks, and of the colours that no [`ColorKey`](crate::ColorKey) explains.
/// `by_stack` is true if colours are those of stacks.
pub fn timeline_legend(
    timeline: &Timeline,
    view: &View,
    palette: &Palette,
    by_stack: bool,
) -> Vec<LegendEntry> {
    let mut entries = vec![
        LegendEntry::new(LegendMark::Line, palette.allocated, "allocated"),
        LegendEntry::new(LegendMark::Line, palette.accent, "active"),
        LegendEntry::new(LegendMark::Line, palette.reserved, "reserved"),
    ];
    if by_stack {
        entries.push(LegendEntry::new(LegendMark::Area, palette.unknown, "no stack"));
    }
    entries.extend(mark_legend(timeline, view, palette));
    entries
}

/// The legend of the marks in a view.
pub(super) fn mark_legend(timeline: &Timeline, view: &View, palette: &Palette) -> Vec<LegendEntry> {
    let scale = view.on(timeline);
    let is_shown = |moment: Moment| {
        let (from, to) = scale.positions_of(moment);
        view.x0 <= to && from < view.x1
    };
    let mut entries = Vec::new();
    if !timeline.events.is_empty() && is_shown(timeline.active.peak().0) {
        entries.push(LegendEntry::new(LegendMark::Dashes, palette.peak, "peak"));
    }
    if timeline.ooms.iter().any(|oom| is_shown(Moment::after(oom.event))) {
        entries.push(LegendEntry::new(LegendMark::Line, palette.oom, "out of memory"));
    }
    entries
}

/// What both calls of the content paint: it is made once, as they come to the same place.
struct Painted {
    places: Places,
    picture: TimelineRaster,
    texture: TextureHandle,
    /// The places of what is marked.
    marked: Vec<MarkedSpan>,
    /// The names of bands.
    named: Vec<BandLabel>,
}

impl<B: Bands> TimelinePicture<'_, B> {
    /// Paint it on a sheet.
    pub fn paint(&self, sheet: &PictureSheet<'_>, page: &Page) -> Pixels {
        self.paint_placed(sheet, page).0
    }

    /// Paint it on a sheet. Also returns where the bands are, unless there was no room for them.
    pub fn paint_placed(&self, sheet: &PictureSheet<'_>, page: &Page) -> (Pixels, Option<BandsPlace>) {
        let mut painted: Option<Painted> = None;
        let pixels = page.paint(sheet, |ui, rect| {
            let places = self.places(ui, rect, sheet);
            let known = painted.take().filter(|known| known.places == places);
            let painted = painted.insert(known.unwrap_or_else(|| self.painted(ui, places, sheet)));
            self.shapes(ui, sheet.palette, painted);
        });
        (pixels, painted.map(|painted| BandsPlace::on(sheet, painted.places.picture)))
    }

    /// The places of lanes and bands, beside the list of sites, which is painted if there is room.
    fn places(&self, ui: &Ui, rect: Rect, sheet: &PictureSheet<'_>) -> Places {
        let rest = SiteList::beside(self.sites, ui.painter(), rect, sheet.palette);
        let rest = inside_axes(rest, sheet);
        let room = ((rest.height() - MIN_BANDS_PT) / LANE_PX).floor().max(0.0);
        let height = (self.lanes.lanes.len() as f32).min(room) * LANE_PX;
        let top = rest.top() + if height == 0.0 { 0.0 } else { height + 2.0 };
        Places {
            lanes: rest.with_max_y(rest.top() + height),
            picture: rest.with_min_y(top).round_to_pixels(sheet.scale),
        }
    }

    fn painted(&self, ui: &Ui, places: Places, sheet: &PictureSheet<'_>) -> Painted {
        let rect = places.picture;
        let size_px =
            [rect.width(), rect.height()].map(|side| (side * sheet.scale).round().max(1.0) as usize);
        let picture = TimelineRaster::paint(self.recording, &self.view, size_px, sheet.palette, self.bands);
        // Pixels are opaque or empty, for which premultiplied and plain colours are the same.
        let image = ColorImage::from_rgba_premultiplied(size_px, &picture.raster.rgba);
        let texture = ui.ctx().load_texture("timeline", image, TextureOptions::NEAREST);
        let (raster, snapshot) = (&picture.raster, self.recording.snapshot());
        let marked = self.mark.map(|mark| mark.spans(raster, self.recording, true));
        let named = self.named.map(|blocks| BandLabel::of(raster, blocks, snapshot, sheet.scale));
        let (marked, named) = (marked.unwrap_or_default(), named.unwrap_or_default());
        Painted { places, picture, texture, marked, named }
    }

    fn shapes(&self, ui: &Ui, palette: &Palette, painted: &Painted) {
        let Painted { places, picture, texture, marked, named } = painted;
        let (rect, timeline) = (places.picture, self.recording.timeline());
        let canvas = TimelineCanvas { painter: ui.painter(), rect, view: &self.view, timeline, palette };
        canvas.grid();
        canvas.picture(picture, texture.id());
        match self.selected {
            Selected::None => {}
            Selected::Allocation(id) => canvas.outline(picture, &picture.raster.spans(id), true),
            Selected::Stack(stack) => {
                let is_same =
                    |id: AllocId| id.index() < timeline.lifetimes.len() && timeline.stack(id) == stack;
                canvas.highlight(picture, &picture.raster.spans_where(is_same));
            }
        }
        canvas.totals(picture);
        let mut labels = MarkLabels::default();
        if let Some(mark) = &self.mark {
            canvas.marked(picture, mark, marked, &mut labels);
        }
        let labels = marks(&canvas, labels, self.future, self.capacity, self.cursor);
        canvas.band_labels(picture, named, &labels);
        canvas.labels(&labels);
        canvas.lanes(self.recording.snapshot(), self.lanes, places.lanes);
    }
}

/// The part of a rectangle without the labels of the axes.
pub(super) fn inside_axes(rect: Rect, sheet: &PictureSheet<'_>) -> Rect {
    let min = pos2(rect.left() + Y_LABELS_PT, rect.top() + 1.0);
    Rect::from_min_max(min, pos2(rect.right() - 1.0, rect.bottom() - X_LABELS_PT))
        .round_to_pixels(sheet.scale)
}

/// Paint the frame, what is projected, OOMs, the peak, the capacity, snapshots and the cursor; their labels come last, above all else.
pub(super) fn marks(
    canvas: &TimelineCanvas<'_>,
    mut labels: MarkLabels,
    future: &Future,
    capacity: Option<Bytes>,
    cursor: Option<Moment>,
) -> MarkLabels {
    canvas.frame();
    canvas.future(future, &mut labels);
    canvas.ooms(&mut labels);
    if !canvas.timeline.events.is_empty() {
        canvas.peak(canvas.timeline.peak_active(), &mut labels);
    }
    if let Some(capacity) = capacity {
        canvas.capacity(capacity, &mut labels);
    }
    if let Some(after) = &future.after_fix {
        canvas.after_fix(after, &mut labels);
    }
    canvas.dumps(&mut labels);
    if let Some(moment) = cursor {
        canvas.cursor(moment);
    }
    labels
}
