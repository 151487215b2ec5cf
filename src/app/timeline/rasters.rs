//! Pictures of the timeline, painted by a worker.
//!
//! The window always has a picture: the last one that was finished, stretched to the view, until
//! the right one lands.

use crate::analysis::filter::Matches;
use crate::analysis::{PrivatePools, private_pools};
use crate::app::device::TimelineMode;
use crate::app::filter::work::FilterMode;
use crate::app::navigation::Selection;
use crate::app::theme;
use crate::app::worker::{RasterMode, Task, Worker};
use crate::draw::{
    Blocks, Coloring, Kept, Painted, Palette, Pooled, SegmentStack, Span, View, range_of_band,
};
use crate::model::{AllocId, Snapshot, Timeline};
use eframe::egui::{self, ColorImage, TextureHandle, TextureOptions};
use std::sync::{Arc, OnceLock};

/// Which picture is wanted.
#[derive(Debug, Clone)]
pub(in crate::app) struct Wish {
    pub(in crate::app) view: View,
    pub(in crate::app) size_px: [usize; 2],
    pub(in crate::app) is_dark: bool,
    pub(in crate::app) mode: TimelineMode,
    pub(in crate::app) coloring: Arc<Coloring>,
    /// What the filter lets through, and what happens to the rest.
    pub(in crate::app) filter: Option<(Arc<Matches>, FilterMode)>,
}

impl PartialEq for Wish {
    fn eq(&self, other: &Self) -> bool {
        let key = |wish: &Self| (wish.view, wish.size_px, wish.is_dark, wish.mode);
        let matches = |wish: &Self| wish.filter.as_ref().map(|(found, mode)| (Arc::as_ptr(found), *mode));
        key(self) == key(other)
            && Arc::ptr_eq(&self.coloring, &other.coloring)
            && matches(self) == matches(other)
    }
}

/// The picture that is shown.
pub(in crate::app) struct Shown {
    pub(in crate::app) picture: Painted,
    /// What its bands are.
    pub(in crate::app) mode: TimelineMode,
    pub(in crate::app) texture: TextureHandle,
    outlines: Vec<(AllocId, Vec<Span>)>,
    /// Where the selected stack or segment is.
    selected: Option<(Selection, Vec<Span>)>,
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
    snapshot: Arc<Snapshot>,
    at: usize,
    pools: Pools,
}

impl Rasters {
    pub(in crate::app) fn new(
        snapshot: Arc<Snapshot>,
        at: usize,
        ctx: &egui::Context,
        mode: RasterMode,
    ) -> Self {
        let pools = Pools::default();
        let painter = Painter { snapshot, at, pools: Arc::clone(&pools) };
        Self { worker: Worker::new("timeline", painter, ctx, mode), pools, shown: None }
    }

    /// Ask for a picture, and take what is finished.
    pub(in crate::app) fn update(&mut self, ctx: &egui::Context, wish: Wish) {
        if let Some(finished) = self.worker.ask(wish) {
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
        self.shown = Some(Shown { picture, mode, texture, outlines: Vec::new(), selected: None });
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
    pub(in crate::app) fn spans_of(&mut self, selection: Selection, timeline: &Timeline) -> &[Span] {
        let known = self.selected.take().filter(|known| known.0 == selection);
        let found = known.unwrap_or_else(|| (selection, self.find(selection, timeline)));
        &self.selected.insert(found).1
    }

    fn find(&self, selection: Selection, timeline: &Timeline) -> Vec<Span> {
        let Timeline { lifetimes, events, .. } = timeline;
        let raster = &self.picture.raster;
        let is_allocation = |id: AllocId| id.index() < lifetimes.len();
        match (selection, self.mode) {
            (Selection::Stack(stack), TimelineMode::Blocks) => {
                raster.spans_where(|id| is_allocation(id) && lifetimes.stack(id, events) == stack)
            }
            (Selection::Segment { addr }, TimelineMode::Blocks) => {
                let held: Vec<_> =
                    timeline.ranges.all().iter().filter(|range| range.contains(addr)).collect();
                let is_inside = |addr| held.iter().any(|range| range.contains(addr));
                raster.spans_where(|id| is_allocation(id) && is_inside(lifetimes.addr(id, events)))
            }
            (Selection::Segment { addr }, TimelineMode::Segments) => {
                raster.spans_where(|id| range_of_band(id, timeline).is_some_and(|range| range.contains(addr)))
            }
            _ => Vec::new(),
        }
    }
}

impl Task for Painter {
    type Wish = Wish;
    type Done = Finished;

    fn run(&self, wish: &Wish) -> Finished {
        let palette = if wish.is_dark { &Palette::DARK } else { &Palette::LIGHT };
        let timeline = &self.snapshot.timelines[self.at];
        let contains = |id| wish.filter.as_ref().is_none_or(|(matches, _)| matches.contains(id));
        let kept = wish
            .filter
            .as_ref()
            .map(|(_, mode)| Kept { contains: &contains, is_alone: *mode == FilterMode::Only });
        let blocks = Blocks { timeline, coloring: &wish.coloring, kept };
        let picture = match wish.mode {
            TimelineMode::Blocks => match self.pools.get_or_init(|| private_pools(timeline)) {
                Some(pools) => {
                    let pooled = Pooled { blocks, pools };
                    Painted::paint(timeline, &wish.view, wish.size_px, palette, &pooled)
                }
                None => Painted::paint(timeline, &wish.view, wish.size_px, palette, &blocks),
            },
            TimelineMode::Segments => {
                let bands = SegmentStack::new(timeline, &wish.coloring);
                Painted::paint(timeline, &wish.view, wish.size_px, palette, &bands)
            }
        };
        let image = theme::image(&picture.raster);
        (wish.mode, picture, image)
    }
}
