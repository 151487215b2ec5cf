//! The window without a screen, for measuring the time of frames.

use crate::panes::Layout;
use crate::timeline::pictures::TimelinePictures;
use crate::work::worker::WorkMode;
use crate::{App, panes};
use eframe::egui::{self, Context, Event, RawInput, Rect};
use oomscope_snapshot::load::Input;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time between two frames in seconds: that of a common screen. Animations depend on it.
const FRAME_S: f64 = 1.0 / 60.0;

/// A window that is not shown.
pub struct Headless {
    ctx: Context,
    app: App,
    size: egui::Vec2,
    time_s: f64,
}

impl std::fmt::Debug for Headless {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Headless").field("size", &self.size).finish_non_exhaustive()
    }
}

impl Headless {
    /// A window of a size in points.
    pub fn new(size: [f32; 2]) -> Self {
        let ctx = Context::default();
        let app = App::new(&ctx, WorkMode::Background);
        Self { ctx, app, size: size.into(), time_s: 0.0 }
    }

    /// Open a file; it loads while frames are drawn.
    pub fn open(&mut self, path: &Path) {
        self.app.open(Input::File(path.to_owned()), &self.ctx);
    }

    /// Bring a pane to the front, by its name.
    pub fn show_pane(&mut self, name: &str) {
        if let Some(pane) = panes::by_name(name)
            && let Some(device) = self.device()
        {
            device.wanted_pane = Some(pane);
        }
    }

    /// True once a file is loaded.
    pub fn is_open(&mut self) -> bool {
        self.device().is_some()
    }

    /// True once the header says the verdict.
    pub fn has_verdict(&mut self) -> bool {
        self.device().is_some_and(|device| device.derived.verdict().is_some())
    }

    /// True if the timeline's picture is that of its view, not an earlier one that is stretched.
    pub fn is_exact(&mut self) -> bool {
        self.device().is_some_and(|device| {
            let view = device.at.view;
            let pictures = device.states.timeline.pictures.as_ref();
            pictures.and_then(TimelinePictures::shown).is_some_and(|shown| shown.picture.view == view)
        })
    }

    /// Put the cursor at a share of the recording, from 0 to 1.
    pub fn seek(&mut self, share: f64) {
        if let Some(device) = self.device() {
            let moments = device.recording.moments() as f64;
            device.at.move_to(oomscope_model::Moment((share * moments) as u32));
        }
    }

    /// Write a filter.
    pub fn filter(&mut self, query: &str) {
        if let Some(device) = self.device() {
            query.clone_into(&mut device.at.query);
        }
    }

    /// Draw a frame with some input: all work of the window's thread except for handing triangles to the
    /// graphics card.
    pub fn frame(&mut self, events: Vec<Event>) -> Duration {
        self.time_s += FRAME_S;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(egui::Pos2::ZERO, self.size)),
            time: Some(self.time_s),
            max_texture_side: Some(8192),
            events,
            ..RawInput::default()
        };
        let start = Instant::now();
        let output = self.ctx.run_ui(input, |ui| {
            self.app.prepare(ui.ctx());
            self.app.draw(ui);
        });
        let shapes = self.ctx.tessellate(output.shapes.clone(), output.pixels_per_point);
        let took = start.elapsed();
        // Nobody looks at the triangles, but making them is a part of the time.
        std::hint::black_box(shapes);
        output.drop_without_applying_deltas();
        took
    }

    fn device(&mut self) -> Option<&mut panes::OpenDevice> {
        self.app.documents.get_mut(self.app.current)?.open_file()?.device()
    }

    /// Arrange the panes as at the first start.
    pub fn reset_layout(&mut self) {
        self.app.layout = Layout::default();
    }
}
