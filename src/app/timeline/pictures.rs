//! Pictures of the timeline, painted by a worker.
//!
//! The window always has a picture: the last one that was finished, stretched to the view, until
//! the right one lands.

use crate::analysis::filter::Matches;
use crate::analysis::{PrivatePools, private_pools};
use crate::app::device::filtering::FilterMode;
use crate::app::device::{Selection, TimelineMode};
use crate::app::theme;
use crate::app::work::by_ptr::ByPtr;
use crate::app::work::memo::Memo;
use crate::app::work::worker::{Task, WorkMode, Worker};
use crate::draw::{
    Blocks, Coloring, Kept, Painted, Palette, Pooled, SegmentStack, Span, View, range_of_band,
};
use crate::model::{AllocId, Recording, Timeline};
use eframe::egui::{self, ColorImage, TextureHandle, TextureOptions};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

/// Which picture is wanted.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct TimelineRequest {
    pub(in crate::app) view: View,
    pub(in crate::app) size_px: [usize; 2],
    pub(in crate::app) is_dark: bool,
    pub(in crate::app) mode: TimelineMode,
    pub(in crate::app) coloring: ByPtr<Coloring>,
    /// What the filter lets through, and what happens to the rest.
    pub(in crate::app) filter: Option<(ByPtr<Matches>, FilterMode)>,
}

/// The picture that is shown.
pub(in crate::app) struct Shown {
    pub(in crate::app) picture: Painted,
    /// What its bands are.
    pub(in crate::app) mode: TimelineMode,
    pub(in crate::app) texture: TextureHandle,
    outlines: Vec<(AllocId, Vec<Span>)>,
    /// Where the selected stack or segment is.
    selected: Memo<Selection, Rc<[Span]>>,
}

/// Pictures of one device.
pub(in crate::app) struct Rasters {
    worker: Worker<Painter>,
    pools: Pools,
    shown: Option<Shown>,
}

/// The private pools, once they are known.
type Pools = Arc<OnceLock<Option<PrivatePools>>>;

/// A picture, and what its bands are.
type Finished = (TimelineMode, Painted, ColorImage);

/// What painting needs.
#[derive(Clone)]
struct Painter {
    recording: Recording,
    pools: Pools,
}

impl Rasters {
    pub(in crate::app) fn new(recording: Recording, ctx: &egui::Context, mode: WorkMode) -> Self {
        let pools = Pools::default();
        let painter = Painter { recording, pools: Arc::clone(&pools) };
        Self { worker: Worker::new("timeline", painter, ctx, mode), pools, shown: None }
    }

    /// Ask for a picture, and take what is finished.
    pub(in crate::app) fn update(&mut self, ctx: &egui::Context, request: TimelineRequest) {
        if let Some(finished) = self.worker.ask(request) {
            self.show(ctx, finished);
        }
    }

    fn show(&mut self, ctx: &egui::Context, (mode, picture, image): Finished) {
        let texture = match self.shown.take() {
            Some(mut shown) => {
                shown.texture.set(image, TextureOptions::NEAREST);
                shown.texture
            }
            None => ctx.load_texture("timeline", image, TextureOptions::NEAREST),
        };
        self.shown = Some(Shown { picture, mode, texture, outlines: Vec::new(), selected: Memo::default() });
    }

    /// The private pools, once the first picture is there.
    pub(in crate::app) fn pools(&self) -> Option<&PrivatePools> {
        self.pools.get()?.as_ref()
    }

    /// The latest picture, which may be one of an earlier view.
    pub(in crate::app) fn shown(&mut self) -> Option<&mut Shown> {
        self.shown.as_mut()
    }
}

impl Shown {
    /// Where an allocation is in the picture. The last few are remembered.
    pub(in crate::app) fn outline(&mut self, id: AllocId) -> &[Span] {
        const REMEMBERED: usize = 4;
        let at = self.outlines.iter().position(|(known, _)| *known == id).unwrap_or_else(|| {
            if REMEMBERED <= self.outlines.len() {
                self.outlines.remove(0);
            }
            self.outlines.push((id, self.picture.raster.spans(id)));
            self.outlines.len() - 1
        });
        &self.outlines[at].1
    }
}

impl Shown {
    /// Where everything with the selected stack, or in the selected segment, is in the picture.
    pub(in crate::app) fn spans_of(&self, selection: Selection, timeline: &Timeline) -> Rc<[Span]> {
        self.selected.get(selection, || self.find_spans(selection, timeline).into())
    }

    fn find_spans(&self, selection: Selection, timeline: &Timeline) -> Vec<Span> {
        let raster = &self.picture.raster;
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
        let kept = request
            .filter
            .as_ref()
            .map(|(_, mode)| Kept { contains: &contains, is_alone: *mode == FilterMode::Only });
        let blocks = Blocks { timeline, coloring: &request.coloring, kept };
        let picture = match request.mode {
            TimelineMode::Blocks => match self.pools.get_or_init(|| private_pools(timeline)) {
                Some(pools) => {
                    let pooled = Pooled { blocks, pools };
                    Painted::paint(timeline, &request.view, request.size_px, palette, &pooled)
                }
                None => Painted::paint(timeline, &request.view, request.size_px, palette, &blocks),
            },
            TimelineMode::Segments => {
                let bands = SegmentStack::new(timeline, &request.coloring);
                Painted::paint(timeline, &request.view, request.size_px, palette, &bands)
            }
        };
        let image = theme::image(&picture.raster);
        (request.mode, picture, image)
    }
}
