//! Pictures of the segment timeline, painted by a worker.

use crate::theme;
use crate::work::by_ptr::ByPtr;
use crate::work::worker::{Task, WorkMode, Worker};
use eframe::egui::{self, ColorImage, TextureHandle, TextureOptions};
use oomscope_analysis::filter::Matches;
use oomscope_analysis::{RowSites, SegmentRows};
use oomscope_draw::{
    BlockFilter, Blocks, Coloring, Palette, RowBand, SegmentTimelineRaster, SegmentTimelineScene, View,
};
use oomscope_model::{Recording, StackId};
use std::sync::{Arc, OnceLock};

/// Everything that a picture depends on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowsRequest {
    /// The positions in sight. Its bytes do not matter and stay the same, so that they ask for no new picture.
    pub(crate) view: View,
    pub(crate) size_px: [usize; 2],
    pub(crate) bands: Vec<RowBand>,
    pub(crate) is_dark: bool,
    pub(crate) coloring: ByPtr<Coloring>,
    /// The allocations that the filter lets through; `None` for all.
    pub(crate) matches: Option<ByPtr<Matches>>,
    /// The selected stack.
    pub(crate) stack: Option<StackId>,
}

/// The picture that is shown.
pub(crate) struct Shown {
    pub(crate) picture: SegmentTimelineRaster,
    pub(crate) texture: TextureHandle,
}

/// The latest picture of one device, and the thread that paints others.
pub(crate) struct RowPictures {
    worker: Worker<Painter>,
    rows: Rows,
    shown: Option<Shown>,
}

/// The rows, once they are known.
type Rows = Arc<OnceLock<Arc<KnownRows>>>;

/// The rows with their lines of code.
pub(crate) struct KnownRows {
    pub(crate) rows: SegmentRows,
    pub(crate) sites: RowSites,
}

/// Paints the rows of one device.
#[derive(Clone)]
struct Painter {
    recording: Recording,
    rows: Rows,
}

impl RowPictures {
    pub(crate) fn new(recording: Recording, ctx: &egui::Context, mode: WorkMode) -> Self {
        let rows = Rows::default();
        let painter = Painter { recording, rows: Arc::clone(&rows) };
        Self { worker: Worker::new("segments", painter, ctx, mode), rows, shown: None }
    }

    /// The rows; `None` until they are known, which the first picture waits for.
    pub(crate) fn rows(&mut self) -> Option<Arc<KnownRows>> {
        if self.rows.get().is_none() {
            self.worker.ask(None);
        }
        self.rows.get().map(Arc::clone)
    }

    /// Ask for a picture, and take the last one that is finished.
    pub(crate) fn update(&mut self, ctx: &egui::Context, request: RowsRequest) {
        let Some((picture, image)) = self.worker.ask(Some(request)).flatten() else { return };
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
    pub(crate) fn shown(&self) -> Option<&Shown> {
        self.shown.as_ref()
    }
}

impl Task for Painter {
    /// `None` asks for the rows alone.
    type Request = Option<RowsRequest>;
    type Response = Option<(SegmentTimelineRaster, ColorImage)>;

    fn run(&self, request: &Self::Request) -> Self::Response {
        let timeline = self.recording.timeline();
        let KnownRows { rows, .. } = &**self.rows.get_or_init(|| {
            let rows = SegmentRows::build(timeline);
            let sites = RowSites::new(&self.recording, &rows);
            Arc::new(KnownRows { rows, sites })
        });
        let request = request.as_ref()?;
        let palette = if request.is_dark { &Palette::DARK } else { &Palette::LIGHT };
        let contains = |id| request.matches.as_ref().is_none_or(|matches| matches.contains(id));
        let filter = request.matches.as_ref().map(|_| BlockFilter { contains: &contains, hides_rest: false });
        let blocks = Blocks { timeline, coloring: &request.coloring, filter };
        let map = SegmentTimelineScene {
            blocks,
            rows,
            view: &request.view,
            bands: &request.bands,
            palette,
            selected: request.stack,
        };
        let picture = SegmentTimelineRaster::paint(map, request.size_px);
        let image = theme::image(&picture.raster);
        Some((picture, image))
    }
}
