//! Pictures of the segment timeline, painted by a worker.

use crate::analysis::SegmentRows;
use crate::analysis::filter::Matches;
use crate::app::theme;
use crate::app::worker::{RasterMode, Task, Worker};
use crate::draw::{
    Blocks, Coloring, Kept, Palette, RowBand, SegmentTimelineRaster, SegmentTimelineScene, View,
};
use crate::model::{Snapshot, StackId};
use eframe::egui::{self, ColorImage, TextureHandle, TextureOptions};
use std::sync::{Arc, OnceLock};

/// Which picture is wanted.
#[derive(Debug, Clone)]
pub(in crate::app) struct AddressWish {
    /// Positions; bytes do not matter.
    pub(in crate::app) view: View,
    pub(in crate::app) size_px: [usize; 2],
    pub(in crate::app) bands: Vec<RowBand>,
    pub(in crate::app) is_dark: bool,
    pub(in crate::app) coloring: Arc<Coloring>,
    /// What the filter lets through.
    pub(in crate::app) matches: Option<Arc<Matches>>,
    /// The selected stack.
    pub(in crate::app) stack: Option<StackId>,
}

impl PartialEq for AddressWish {
    fn eq(&self, other: &Self) -> bool {
        let key = |wish: &Self| (wish.view.axis, wish.view.x0, wish.view.x1, wish.size_px);
        let look = |wish: &Self| (wish.is_dark, wish.stack, wish.matches.as_ref().map(Arc::as_ptr));
        key(self) == key(other)
            && look(self) == look(other)
            && self.bands == other.bands
            && Arc::ptr_eq(&self.coloring, &other.coloring)
    }
}

/// The picture that is shown.
pub(in crate::app) struct Shown {
    pub(in crate::app) picture: SegmentTimelineRaster,
    pub(in crate::app) texture: TextureHandle,
}

/// Pictures of one device.
pub(in crate::app) struct AddressPictures {
    worker: Worker<Painter>,
    rows: Rows,
    shown: Option<Shown>,
}

/// The rows, once they are known.
type Rows = Arc<OnceLock<Arc<SegmentRows>>>;

/// What painting needs.
#[derive(Clone)]
struct Painter {
    snapshot: Arc<Snapshot>,
    at: usize,
    rows: Rows,
}

impl AddressPictures {
    pub(in crate::app) fn new(
        snapshot: Arc<Snapshot>,
        at: usize,
        ctx: &egui::Context,
        mode: RasterMode,
    ) -> Self {
        let rows = Rows::default();
        let painter = Painter { snapshot, at, rows: Arc::clone(&rows) };
        Self { worker: Worker::new("segments", painter, ctx, mode), rows, shown: None }
    }

    /// The rows; `None` until they are known, which the first picture waits for.
    pub(in crate::app) fn rows(&mut self) -> Option<Arc<SegmentRows>> {
        if self.rows.get().is_none() {
            self.worker.ask(None);
        }
        self.rows.get().map(Arc::clone)
    }

    /// Ask for a picture, and take what is finished.
    pub(in crate::app) fn update(&mut self, ctx: &egui::Context, wish: AddressWish) {
        let Some((picture, image)) = self.worker.ask(Some(wish)).flatten() else { return };
        let texture = match self.shown.take() {
            Some(mut shown) => {
                shown.texture.set(image, TextureOptions::NEAREST);
                shown.texture
            }
            None => ctx.load_texture("segments", image, TextureOptions::NEAREST),
        };
        self.shown = Some(Shown { picture, texture });
    }

    /// The latest picture, which may be one of an earlier view.
    pub(in crate::app) fn shown(&self) -> Option<&Shown> {
        self.shown.as_ref()
    }
}

impl Task for Painter {
    /// Without a wish, just the rows.
    type Wish = Option<AddressWish>;
    type Done = Option<(SegmentTimelineRaster, ColorImage)>;

    fn run(&self, wish: &Self::Wish) -> Self::Done {
        let timeline = &self.snapshot.timelines[self.at];
        let rows = self.rows.get_or_init(|| Arc::new(SegmentRows::build(timeline)));
        let wish = wish.as_ref()?;
        let palette = if wish.is_dark { &Palette::DARK } else { &Palette::LIGHT };
        let contains = |id| wish.matches.as_ref().is_none_or(|matches| matches.contains(id));
        let kept = wish.matches.as_ref().map(|_| Kept { contains: &contains, is_alone: false });
        let blocks = Blocks { timeline, coloring: &wish.coloring, kept };
        let map = SegmentTimelineScene {
            blocks,
            rows,
            view: &wish.view,
            bands: &wish.bands,
            palette,
            selected: wish.stack,
        };
        let picture = SegmentTimelineRaster::paint(map, wish.size_px);
        let image = theme::image(&picture.raster);
        Some((picture, image))
    }
}
