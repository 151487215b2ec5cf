//! Pictures of the timeline, painted by a worker.
//!
//! The window always has a picture: the last one that was finished, stretched to the view, until
//! the right one lands.

use super::request::TimelineRequest;
use super::share_totals::{ShareTotal, share_total};
use crate::device::filtering::FilterMode;
use crate::device::{Outline, Selection, TimelineMode};
use crate::theme;
use crate::work::memo::Memo;
use crate::work::worker::{Task, WorkMode, Worker};
use eframe::egui::{self, ColorImage, TextureHandle, TextureOptions};
use oomscope_analysis::{PrivatePools, private_pools};
use oomscope_draw::{
    BandLabel, BlockFilter, Blocks, MarkedSpan, Palette, PixelSpan, Pooled, SegmentStack, Share,
    TimelineRaster, range_of_band,
};
use oomscope_model::{AllocId, Moment, Recording, Timeline};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

/// The picture that is shown.
pub(crate) struct Shown {
    pub(crate) picture: TimelineRaster,
    /// The memory that its bands are.
    pub(crate) mode: TimelineMode,
    request: TimelineRequest,
    pub(crate) texture: TextureHandle,
    /// The names of bands that have the room.
    pub(crate) labels: Vec<BandLabel>,
    hovered_outline: Memo<AllocId, Rc<[PixelSpan]>>,
    selected_outline: Memo<AllocId, Rc<[PixelSpan]>>,
    /// The places of the selected stack or segment.
    highlighted: Memo<Selection, Rc<[PixelSpan]>>,
    /// The places of what it marks.
    marked: Vec<MarkedSpan>,
    /// What the hovered share stands for.
    share: Memo<(Share, Moment), Rc<ShareTotal>>,
}

/// The latest picture of one device, and the thread that paints others.
pub(crate) struct TimelinePictures {
    worker: Worker<Painter>,
    pools: Pools,
    shown: Option<Shown>,
}

/// The private pools, once they are known.
type Pools = Arc<OnceLock<Option<PrivatePools>>>;

/// A picture, and what it was asked for.
type Finished = (TimelineRequest, TimelineRaster, Vec<MarkedSpan>, Vec<BandLabel>, ColorImage);

/// Paints pictures of one device.
#[derive(Clone)]
struct Painter {
    recording: Recording,
    pools: Pools,
}

impl TimelinePictures {
    pub(crate) fn new(recording: Recording, ctx: &egui::Context, mode: WorkMode) -> Self {
        let pools = Pools::default();
        let painter = Painter { recording, pools: Arc::clone(&pools) };
        Self { worker: Worker::new("timeline", painter, ctx, mode), pools, shown: None }
    }

    /// Ask for a picture, and take the last one that is finished.
    pub(crate) fn update(&mut self, ctx: &egui::Context, request: TimelineRequest) {
        if let Some(finished) = self.worker.ask(request) {
            self.show(ctx, finished);
        }
    }

    fn show(&mut self, ctx: &egui::Context, (request, picture, marked, labels, image): Finished) {
        let texture = match self.shown.take() {
            Some(mut shown) => {
                shown.texture.set(image, TextureOptions::NEAREST);
                shown.texture
            }
            None => ctx.load_texture("timeline", image, TextureOptions::NEAREST),
        };
        // Places in the last picture mean nothing in this one, so their cells are new.
        self.shown = Some(Shown {
            picture,
            mode: request.mode,
            request,
            texture,
            labels,
            hovered_outline: Memo::default(),
            selected_outline: Memo::default(),
            highlighted: Memo::default(),
            marked,
            share: Memo::default(),
        });
    }

    /// The private pools, once the first picture is there.
    pub(crate) fn pools(&self) -> Option<&PrivatePools> {
        self.pools.get()?.as_ref()
    }

    /// The latest picture, which may be one of an earlier view.
    pub(crate) fn shown(&self) -> Option<&Shown> {
        self.shown.as_ref()
    }
}

impl Shown {
    /// The place of the hovered band in the picture.
    pub(crate) fn hovered_outline(&self, id: AllocId) -> Rc<[PixelSpan]> {
        self.hovered_outline.get(id, || self.picture.raster.spans(id).into())
    }

    /// The place of the selected allocation in the picture.
    pub(crate) fn selected_outline(&self, id: AllocId) -> Rc<[PixelSpan]> {
        self.selected_outline.get(id, || self.picture.raster.spans(id).into())
    }

    /// The memory that the picture marks, and its places.
    pub(crate) fn marked(&self) -> Option<(&Outline, &[MarkedSpan])> {
        let marked = self.request.marked.as_ref()?;
        Some((&marked.outline, &self.marked))
    }

    /// The places of everything with the selected stack, or in the selected segment, in the picture.
    pub(crate) fn spans_of(&self, selection: Selection, timeline: &Timeline) -> Rc<[PixelSpan]> {
        self.highlighted.get(selection, || self.find_spans(selection, timeline).into())
    }

    /// What a share stands for at the moment of its column.
    pub(crate) fn share_total(&self, share: Share, moment: Moment, timeline: &Timeline) -> Rc<ShareTotal> {
        self.share.get((share, moment), || share_total(timeline, &self.request, share, moment).into())
    }

    fn find_spans(&self, selection: Selection, timeline: &Timeline) -> Vec<PixelSpan> {
        let raster = &self.picture.raster;
        // Larger ids are bands of pools.
        let is_allocation = |id: AllocId| id.index() < timeline.lifetimes.len();
        match (selection, self.mode) {
            (Selection::Stack(stack), TimelineMode::Blocks) => {
                raster.spans_where(|id| is_allocation(id) && timeline.stack(id) == stack)
            }
            (Selection::Segment { addr }, TimelineMode::Blocks) => {
                let held: Vec<_> =
                    timeline.ranges.all().iter().filter(|range| range.contains(addr)).collect();
                let is_inside = |addr| held.iter().any(|range| range.contains(addr));
                raster.spans_where(|id| is_allocation(id) && is_inside(timeline.addr(id)))
            }
            (Selection::Segment { addr }, TimelineMode::Segments) => {
                raster.spans_where(|id| range_of_band(id, timeline).is_some_and(|range| range.contains(addr)))
            }
            _ => Vec::new(),
        }
    }
}

impl Task for Painter {
    type Request = TimelineRequest;
    type Response = Finished;

    fn run(&self, request: &TimelineRequest) -> Finished {
        let palette = if request.is_dark { &Palette::DARK } else { &Palette::LIGHT };
        let timeline = self.recording.timeline();
        let contains = |id| request.filter.as_ref().is_none_or(|(matches, _)| matches.contains(id));
        let filter = request
            .filter
            .as_ref()
            .map(|(_, mode)| BlockFilter { contains: &contains, hides_rest: *mode == FilterMode::Only });
        let blocks = Blocks { timeline, coloring: &request.coloring, filter };
        let picture = match request.mode {
            TimelineMode::Blocks => match self.pools.get_or_init(|| private_pools(timeline)) {
                Some(pools) => {
                    let pooled = Pooled { blocks, pools };
                    TimelineRaster::paint(timeline, &request.view, request.size_px, palette, &pooled)
                }
                None => TimelineRaster::paint(timeline, &request.view, request.size_px, palette, &blocks),
            },
            TimelineMode::Segments => {
                let bands = SegmentStack::new(timeline, &request.coloring);
                TimelineRaster::paint(timeline, &request.view, request.size_px, palette, &bands)
            }
        };
        let labels = match request.mode {
            TimelineMode::Blocks => {
                let snapshot = self.recording.snapshot();
                BandLabel::of(&picture.raster, &blocks, snapshot, request.px_per_point)
            }
            TimelineMode::Segments => Vec::new(),
        };
        let image = theme::image(&picture.raster);
        let marked = request
            .marked
            .as_ref()
            .map(|marked| marked.outline.mark().spans(&picture.raster, timeline, marked.fades_rest));
        (request.clone(), picture, marked.unwrap_or_default(), labels, image)
    }
}
