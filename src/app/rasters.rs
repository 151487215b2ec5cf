//! Pictures of the timeline, painted on a thread of their own.
//!
//! The window always has a picture: the last one that was finished, stretched to the view, until
//! the right one lands. Only the latest wish counts.

use super::device::TimelineMode;
use super::theme;
use crate::analysis::{PrivatePools, private_pools};
use crate::draw::{Blocks, Coloring, Painted, Palette, Pooled, Span, View};
use crate::model::{AllocId, Snapshot, StackId, Timeline};
use eframe::egui::{self, ColorImage, TextureHandle, TextureOptions};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

/// Where pictures are painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RasterMode {
    /// On another thread.
    Background,
    /// At once, so that no frame ever shows an old picture.
    Blocking,
}

/// Which picture is wanted.
#[derive(Debug, Clone)]
pub(super) struct Wish {
    pub(super) view: View,
    pub(super) size_px: [usize; 2],
    pub(super) is_dark: bool,
    pub(super) mode: TimelineMode,
    pub(super) coloring: Arc<Coloring>,
}

impl PartialEq for Wish {
    fn eq(&self, other: &Self) -> bool {
        let key = |wish: &Self| (wish.view, wish.size_px, wish.is_dark, wish.mode);
        key(self) == key(other) && Arc::ptr_eq(&self.coloring, &other.coloring)
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
    desk: Arc<Desk>,
    painter: Option<Painter>,
    pools: Pools,
    wished: Option<Wish>,
    shown: Option<Shown>,
}

/// The private pools, once they are known.
type Pools = Arc<OnceLock<Option<PrivatePools>>>;

/// What the window and the thread share.
#[derive(Default)]
struct Desk {
    papers: Mutex<Papers>,
    has_news: Condvar,
}

#[derive(Default)]
struct Papers {
    wish: Option<Wish>,
    finished: Option<(Painted, ColorImage)>,
    is_closed: bool,
}

/// What painting needs.
struct Painter {
    snapshot: Arc<Snapshot>,
    at: usize,
    pools: Pools,
}

impl Rasters {
    pub(super) fn new(snapshot: Arc<Snapshot>, at: usize, ctx: &egui::Context, mode: RasterMode) -> Self {
        let desk = Arc::new(Desk::default());
        let pools = Pools::default();
        let painter = |snapshot| Painter { snapshot, at, pools: Arc::clone(&pools) };
        let is_alone =
            mode == RasterMode::Blocking || !start_thread(&desk, painter(Arc::clone(&snapshot)), ctx);
        Self { desk, painter: is_alone.then(|| painter(snapshot)), pools, wished: None, shown: None }
    }

    /// Ask for a picture, and take what is finished.
    pub(super) fn update(&mut self, ctx: &egui::Context, wish: Wish) {
        let is_new = self.wished.as_ref() != Some(&wish);
        if is_new {
            self.wished = Some(wish.clone());
        }
        if let Some(painter) = &self.painter {
            if is_new {
                let finished = painter.paint(&wish);
                self.show(ctx, finished);
            }
            return;
        }
        let mut papers = self.desk.lock();
        if is_new {
            papers.wish = Some(wish);
            self.desk.has_news.notify_one();
        }
        let finished = papers.finished.take();
        drop(papers);
        if let Some(finished) = finished {
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

impl Drop for Rasters {
    fn drop(&mut self) {
        self.desk.lock().is_closed = true;
        self.desk.has_news.notify_one();
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

impl Desk {
    /// A thread that panicked leaves nothing half-written here.
    fn lock(&self) -> MutexGuard<'_, Papers> {
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next wish; `None` when the window no longer needs pictures.
    fn wait(&self) -> Option<Wish> {
        let idle = |papers: &mut Papers| papers.wish.is_none() && !papers.is_closed;
        let mut papers = self.has_news.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
        if papers.is_closed { None } else { papers.wish.take() }
    }
}

fn start_thread(desk: &Arc<Desk>, painter: Painter, ctx: &egui::Context) -> bool {
    let (desk, ctx) = (Arc::clone(desk), ctx.clone());
    let thread = thread::Builder::new().name("oomscope-raster".to_owned()).spawn(move || {
        while let Some(wish) = desk.wait() {
            let finished = painter.paint(&wish);
            desk.lock().finished = Some(finished);
            ctx.request_repaint();
        }
    });
    thread.inspect_err(|error| log::warn!("pictures block the window: {error}")).is_ok()
}

impl Painter {
    fn paint(&self, wish: &Wish) -> (Painted, ColorImage) {
        let palette = if wish.is_dark { &Palette::DARK } else { &Palette::LIGHT };
        let timeline = &self.snapshot.timelines[self.at];
        let blocks = Blocks { timeline, coloring: &wish.coloring, kept: None };
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
