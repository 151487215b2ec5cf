//! Pictures of the timeline, painted by a worker.
//!
//! The window always has a picture: the last one that was finished, stretched to the view, until
//! the right one lands.

use super::device::TimelineMode;
use super::filtering::FilterMode;
use super::theme;
use super::worker::{RasterMode, Task, Worker};
use crate::analysis::filter::Matches;
use crate::analysis::{PrivatePools, private_pools};
use crate::draw::{Blocks, Coloring, Kept, Painted, Palette, Pooled, Span, View};
use crate::model::{AllocId, Snapshot, StackId, Timeline};
use eframe::egui::{self, ColorImage, TextureHandle, TextureOptions};
use std::sync::{Arc, OnceLock};

/// Which picture is wanted.
#[derive(Debug, Clone)]
pub(super) struct Wish {
    pub(super) view: View,
    pub(super) size_px: [usize; 2],
    pub(super) is_dark: bool,
    pub(super) mode: TimelineMode,
    pub(super) coloring: Arc<Coloring>,
    /// What the filter lets through, and what happens to the rest.
    pub(super) filter: Option<(Arc<Matches>, FilterMode)>,
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
pub(super) struct Shown {
    pub(super) picture: Painted,
    pub(super) texture: TextureHandle,
    outlines: Vec<(AllocId, Vec<Span>)>,
    /// Where the selected stack is.
    stack: Option<(StackId, Vec<Span>)>,
}

/// Pictures of one device.
pub(super) struct Rasters {
    worker: Worker<Painter>,
    pools: Pools,
    shown: Option<Shown>,
}

/// The private pools, once they are known.
type Pools = Arc<OnceLock<Option<PrivatePools>>>;

/// What painting needs.
#[derive(Clone)]
struct Painter {
    snapshot: Arc<Snapshot>,
    at: usize,
    pools: Pools,
}

impl Rasters {
    pub(super) fn new(snapshot: Arc<Snapshot>, at: usize, ctx: &egui::Context, mode: RasterMode) -> Self {
        let pools = Pools::default();
        let painter = Painter { snapshot, at, pools: Arc::clone(&pools) };
        Self { worker: Worker::new("timeline", painter, ctx, mode), pools, shown: None }
    }

    /// Ask for a picture, and take what is finished.
    pub(super) fn update(&mut self, ctx: &egui::Context, wish: Wish) {
        if let Some(finished) = self.worker.ask(wish) {
            self.show(ctx, finished);
        }
    }

    fn show(&mut self, ctx: &egui::Context, (picture, image): (Painted, ColorImage)) {
        let texture = match self.shown.take() {
            Some(mut shown) => {
                shown.texture.set(image, TextureOptions::NEAREST);
                shown.texture
            }
            None => ctx.load_texture("timeline", image, TextureOptions::NEAREST),
        };
        self.shown = Some(Shown { picture, texture, outlines: Vec::new(), stack: None });
    }

    /// The private pools, once the first picture is there.
    pub(super) fn pools(&self) -> Option<&PrivatePools> {
        self.pools.get()?.as_ref()
    }

    /// The latest picture, which may be one of an earlier view.
    pub(super) fn shown(&mut self) -> Option<&mut Shown> {
        self.shown.as_mut()
    }
}

impl Shown {
    /// Where an allocation is in the picture. The last few are remembered.
    pub(super) fn outline(&mut self, id: AllocId) -> &[Span] {
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
    /// Where everything with a stack is in the picture.
    pub(super) fn spans_of_stack(&mut self, stack: StackId, timeline: &Timeline) -> &[Span] {
        let known = self.stack.take().filter(|known| known.0 == stack);
        let Timeline { lifetimes, events, .. } = timeline;
        let is_same = |id: AllocId| id.index() < lifetimes.len() && lifetimes.stack(id, events) == stack;
        let found = known.unwrap_or_else(|| (stack, self.picture.raster.spans_where(is_same)));
        &self.stack.insert(found).1
    }
}

impl Task for Painter {
    type Wish = Wish;
    type Done = (Painted, ColorImage);

    fn run(&self, wish: &Wish) -> (Painted, ColorImage) {
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
        };
        let image = theme::image(&picture.raster);
        (picture, image)
    }
}
