//! The window: files in tabs, each with its timeline, details and curves.
//!
//! This is the only part besides [`cli`](crate::cli) that touches the world. Panels draw and take
//! input; work that grows with a file runs on named threads or is cached.

mod allocation_facts;
mod allocation_view;
mod background;
mod contributors;
mod curves_panel;
mod details_panel;
mod device;
mod dialogs;
mod document;
mod editor;
mod facts;
mod file_page;
mod flame_view;
mod header;
mod help;
mod keys;
mod load_page;
mod minimap_strip;
mod navigation;
mod panes;
mod preferences;
mod rasters;
mod site_view;
mod sites_view;
mod stack_view;
mod stacks_panel;
mod stacks_toolbar;
mod stacks_work;
mod start_page;
mod status_bar;
mod tabs;
mod theme;
mod timeline_input;

mod timeline_panel;
mod timeline_toolbar;

#[cfg(test)]
mod stacks_tests;
#[cfg(test)]
mod tests;

use crate::load::Input;
use dialogs::OpenDialog;
use document::Document;
use eframe::egui;
use panes::Layout;
use preferences::Preferences;
use rasters::RasterMode;
use std::path::PathBuf;
use thiserror::Error;

/// Under what the arrangement of panes, and the preferences, are kept.
const LAYOUT_KEY: &str = "layout";
const PREFERENCES_KEY: &str = "preferences";

/// Why there is no window.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WindowError {
    /// Neither X11 nor Wayland is there.
    #[error("there is no display")]
    NoDisplay,
    /// The system refused.
    #[error("the window could not be opened ({0})")]
    Refused(String),
}

/// What the window is opened with.
#[derive(Debug, Default)]
pub struct Options {
    /// Files to open.
    pub files: Vec<Input>,
    /// Bytes that the device has, where the user knows.
    pub capacity: Option<i64>,
}

/// Open the window. Returns when it is closed.
///
/// # Errors
/// When there is no display or the system refuses a window.
pub fn run(start: Options) -> Result<(), WindowError> {
    if !has_display() {
        return Err(WindowError::NoDisplay);
    }
    let mut viewport = egui::ViewportBuilder::default()
        .with_app_id("oomscope")
        .with_title("oomscope")
        .with_inner_size([1440.0, 900.0])
        .with_min_inner_size([760.0, 480.0]);
    if let Ok(icon) = eframe::icon_data::from_png_bytes(include_bytes!("../../assets/icon.png")) {
        viewport = viewport.with_icon(icon);
    }
    let options = eframe::NativeOptions { viewport, ..Default::default() };
    let creator = Box::new(move |cc: &eframe::CreationContext<'_>| {
        let mut app = App::new(&cc.egui_ctx, RasterMode::Background);
        app.restore(cc.storage);
        app.preferences.capacity = start.capacity;
        for file in start.files {
            app.open(file, &cc.egui_ctx);
        }
        app.current = 0;
        Ok(Box::new(app) as Box<dyn eframe::App>)
    });
    eframe::run_native("oomscope", options, creator).map_err(|error| {
        log::debug!("no window: {error}");
        // The reason comes last, behind where in the window library it was noticed.
        let text = error.to_string();
        WindowError::Refused(text.rsplit(": ").next().unwrap_or_default().trim_end_matches(')').to_owned())
    })
}

/// Asking first keeps the window library from complaining on standard error.
fn has_display() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(all(unix, not(target_os = "macos"))) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

/// What panels ask for; done after everything is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Command {
    /// Ask for files.
    OpenDialog,
    /// Open a file in a new tab.
    OpenFile(PathBuf),
    /// Load the file of a tab again.
    Reload(usize),
    /// Close a tab.
    Close(usize),
    /// Show a tab.
    Show(usize),
    /// Show or hide the help.
    Help,
    /// Arrange the panes as they were at first.
    ResetLayout,
}

/// Everything in the window.
struct App {
    documents: Vec<Document>,
    current: usize,
    dialog: OpenDialog,
    samples: Vec<PathBuf>,
    layout: Layout,
    shows_help: bool,
    preferences: Preferences,
    mode: RasterMode,
    commands: Vec<Command>,
}

impl App {
    fn new(ctx: &egui::Context, mode: RasterMode) -> Self {
        theme::install(ctx);
        Self {
            documents: Vec::new(),
            current: 0,
            dialog: OpenDialog::default(),
            samples: start_page::find_samples(),
            layout: Layout::default(),
            shows_help: false,
            preferences: Preferences::default(),
            mode,
            commands: Vec::new(),
        }
    }

    /// Take over what was kept when the window was closed the last time.
    fn restore(&mut self, storage: Option<&dyn eframe::Storage>) {
        if let Some(layout) = storage.and_then(|storage| eframe::get_value::<Layout>(storage, LAYOUT_KEY)) {
            self.layout = layout.or_default();
        }
        let kept = storage.and_then(|storage| eframe::get_value(storage, PREFERENCES_KEY));
        self.preferences = kept.unwrap_or_default();
    }

    fn open(&mut self, input: Input, ctx: &egui::Context) {
        self.documents.push(Document::load(input, ctx));
        self.current = self.documents.len() - 1;
    }

    fn run_commands(&mut self, ctx: &egui::Context) {
        for command in std::mem::take(&mut self.commands) {
            match command {
                Command::OpenDialog => self.dialog.show(ctx),
                Command::OpenFile(path) => self.open(Input::File(path), ctx),
                Command::Reload(at) => {
                    if let Some(document) = self.documents.get_mut(at) {
                        *document = Document::load(document.input().clone(), ctx);
                    }
                }
                Command::Close(at) if at < self.documents.len() => {
                    self.documents.remove(at);
                    if at < self.current || self.current == self.documents.len() {
                        self.current = self.current.saturating_sub(1);
                    }
                }
                Command::Close(_) => {}
                Command::Show(at) => self.current = at,
                Command::ResetLayout => self.layout = Layout::default(),
                Command::Help => self.shows_help = !self.shows_help,
            }
            ctx.request_repaint();
        }
    }

    /// Files that were dropped on the window, or chosen in the dialog.
    fn take_files(&mut self, ctx: &egui::Context) {
        let dropped = ctx.input_mut(|input| std::mem::take(&mut input.raw.dropped_files));
        self.commands.extend(dropped.iter().map(|file| Command::OpenFile(file.path().to_owned())));
        self.commands.extend(self.dialog.chosen().into_iter().map(Command::OpenFile));
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        self.take_files(ctx);
        let mode = self.mode;
        self.documents.retain_mut(|document| document.poll(ctx, mode));
        for document in &mut self.documents {
            document.prefer(&self.preferences);
        }
        self.current = self.current.min(self.documents.len().saturating_sub(1));
        keys::listen(ctx, self);
        self.run_commands(ctx);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        tabs::ui(ui, &mut self.documents, self.current, &mut self.preferences, &mut self.commands);
        match self.documents.get_mut(self.current) {
            None => start_page::ui(ui, &self.samples, &mut self.commands),
            Some(document) => document.ui(ui, self.current, &mut self.layout, &mut self.commands),
        }
        start_page::drop_hint(ui);
        help::ui(ui.ctx(), &mut self.shows_help);
        let ctx = ui.ctx().clone();
        self.run_commands(&ctx);
    }

    fn save(&mut self, storage: &mut dyn eframe::Storage) {
        eframe::set_value(storage, LAYOUT_KEY, &self.layout);
        eframe::set_value(storage, PREFERENCES_KEY, &self.preferences);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}
