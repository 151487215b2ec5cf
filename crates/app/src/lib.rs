//! The window: files in tabs, each with its timeline, details and curves.
//!
//! Besides the command line, this is the only part that touches the world. Panes draw and take input; work that grows with a file runs on
//! named threads or is kept until it changes. How a file is decoded, it does not know.
//!
//! ```no_run
//! oomscope_app::run(oomscope_app::Options { files: Vec::new(), ..Default::default() })?;
//! # Ok::<(), oomscope_app::WindowError>(())
//! ```
#![cfg(feature = "window")]

mod accessible;
mod command;
mod command_search;
mod compare;
mod context;
mod details;
mod device;
mod dialog;
mod dialog_log;
mod export;
mod files;
mod filter;
mod first_hint;
mod fixes;
mod flame;
mod focus;
mod header;
#[doc(hidden)]
pub mod headless;
mod help;
mod holes;
mod keys;
mod legend;
mod memory_summary;
mod menus;
mod notebook;
mod notes;
mod open_files;
mod open_panel;
mod panes;
mod path_panels;
mod paths;
mod pointed;
mod preferences;
mod query_field;
mod range;
mod report_view;
mod right_side;
mod rules;
mod segment_map;
mod segment_timeline;
mod stacks;
mod status_bar;
mod swatches;
mod tables;
mod text_size;
mod texts;
mod theme;
mod timeline;
mod tooltips;
mod waiting;
mod work;

#[cfg(test)]
mod screenshots;
#[cfg(test)]
mod tests;

use command::Command;
pub use dialog_log::DialogLog;
use eframe::egui;
use export::{ExportOrder, ExportPanel, Exporter, Target};
use files::dialogs::SystemDialog;
use files::document::Document;
use files::glances::Glances;
use files::samples::Samples;
use files::watch::{FileWatch, OnDisk};
use keys::KeyAction;
use oomscope_analysis::UserRules;
use oomscope_model::Bytes;
use oomscope_report::notes::Place;
use oomscope_snapshot::load::Input;
use open_panel::OpenPanel;
use panes::{Layout, OpenDevice};
use preferences::Preferences;
use std::path::PathBuf;
use std::sync::Arc;
use thiserror::Error;
use work::defect;
use work::setup::Setup;
use work::worker::WorkMode;

/// Keys of the arrangement of panes and the preferences in the window's storage. Other keys would lose what users have stored.
const LAYOUT_KEY: &str = "layout";
const PREFERENCES_KEY: &str = "preferences";

/// The name of the folder with the window's storage, and of the window for the system.
const APP_ID: &str = "oomscope";

/// Why there is no window.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WindowError {
    /// There is neither X11 nor Wayland.
    #[error("there is no display")]
    NoDisplay,
    /// The system refused, with its reason.
    #[error("the window could not be opened ({0})")]
    Refused(String),
}

/// The files and settings that the window starts with.
#[derive(Debug, Default)]
pub struct Options {
    /// Files to open.
    pub files: Vec<Input>,
    /// Bytes that the device has, if the user says so.
    pub capacity: Option<Bytes>,
    /// The user's own rules for categories.
    pub rules: UserRules,
    /// The file that they come from.
    pub rules_file: Option<PathBuf>,
    /// The place to show in the first file.
    pub go: Option<Place>,
    /// The theme to begin with; `None` for the one that was chosen last.
    pub theme: Option<Theme>,
}

/// A theme of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Light on dark.
    Dark,
    /// Dark on light.
    Light,
    /// What the system prefers.
    System,
}

impl From<Theme> for egui::ThemePreference {
    fn from(theme: Theme) -> Self {
        match theme {
            Theme::Dark => Self::Dark,
            Theme::Light => Self::Light,
            Theme::System => Self::System,
        }
    }
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
        .with_app_id(APP_ID)
        .with_title("oomscope")
        .with_inner_size([1440.0, 900.0])
        .with_min_inner_size([760.0, 480.0]);
    if let Ok(icon) = eframe::icon_data::from_png_bytes(include_bytes!("../assets/icon.png")) {
        viewport = viewport.with_icon(icon);
    }
    let options = eframe::NativeOptions { viewport, ..Default::default() };
    let creator = Box::new(move |cc: &eframe::CreationContext<'_>| {
        let mut app = App::new(&cc.egui_ctx, WorkMode::Background);
        app.glances = Glances::new(eframe::storage_dir(APP_ID), &cc.egui_ctx, WorkMode::Background);
        app.restore(cc.storage);
        if let Some(theme) = start.theme {
            cc.egui_ctx.set_theme(theme);
        }
        app.preferences.capacity = start.capacity;
        app.setup.rules = Arc::new(start.rules);
        app.setup.rules_file = start.rules_file;
        app.setup.settings_folder = eframe::storage_dir(APP_ID);
        for file in start.files {
            app.open(file, &cc.egui_ctx);
        }
        app.current = 0;
        if let Some((document, place)) = app.documents.first_mut().zip(start.go) {
            document.visit(place);
        }
        Ok(Box::new(app) as Box<dyn eframe::App>)
    });
    eframe::run_native("oomscope", options, creator).map_err(|error| {
        log::debug!("no window: {error}");
        // The reason comes last, after the place in the window library that noticed it.
        let text = error.to_string();
        WindowError::Refused(text.rsplit(": ").next().unwrap_or_default().trim_end_matches(')').to_owned())
    })
}

/// Asking first keeps the window library from complaining on standard error.
fn has_display() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(all(unix, not(target_os = "macos"))) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

/// Everything in the window.
struct App {
    documents: Vec<Document>,
    /// The tab that is shown; 0 if there are none.
    current: usize,
    /// The title of the window.
    title: String,
    open_panel: OpenPanel,
    export_panel: ExportPanel,
    /// Files that are to be compared as soon as both are open.
    to_compare: Option<[PathBuf; 2]>,
    open_dialog: SystemDialog,
    export_dialog: SystemDialog,
    samples: Samples,
    glances: Glances,
    watch: FileWatch,
    exporter: Exporter,
    /// A message below everything, until it is dismissed.
    notice: Option<String>,
    layout: Layout,
    shows_help: bool,
    /// The window was never opened before, and its user has not dismissed what explains the picture.
    is_first: bool,
    search: command_search::State,
    preferences: Preferences,
    setup: Setup,
    /// Carried out when nothing is being drawn.
    commands: Vec<Command>,
}

impl App {
    fn new(ctx: &egui::Context, mode: WorkMode) -> Self {
        theme::install(ctx);
        text_size::install(ctx);
        Self {
            documents: Vec::new(),
            current: 0,
            open_panel: OpenPanel::default(),
            export_panel: ExportPanel::default(),
            to_compare: None,
            open_dialog: SystemDialog::default(),
            export_dialog: SystemDialog::default(),
            samples: files::samples::find(),
            glances: Glances::new(None, ctx, mode),
            title: String::new(),
            watch: FileWatch::new(ctx),
            exporter: Exporter::default(),
            notice: None,
            layout: Layout::default(),
            shows_help: false,
            is_first: false,
            search: command_search::State::default(),
            preferences: Preferences::default(),
            setup: Setup::new(mode),
            commands: Vec::new(),
        }
    }

    /// Take over the state that the window stored when it was closed the last time.
    fn restore(&mut self, storage: Option<&dyn eframe::Storage>) {
        if let Some(layout) = storage.and_then(|storage| eframe::get_value::<Layout>(storage, LAYOUT_KEY)) {
            self.layout = layout.or_default();
        }
        let stored = storage.and_then(|storage| eframe::get_value(storage, PREFERENCES_KEY));
        self.is_first = storage.is_some() && stored.is_none();
        self.preferences = stored.unwrap_or_default();
    }

    fn run_commands(&mut self, ctx: &egui::Context) {
        for command in std::mem::take(&mut self.commands) {
            match command {
                Command::OpenDialog => self.toggle_open_panel(),
                Command::SystemDialog(folder, wanted) => {
                    let refused = self.open_dialog.open(&folder, wanted, ctx);
                    let refused = refused.and_then(|why| self.open_panel.say(why));
                    self.notice = refused.or(self.notice.take());
                }
                Command::OpenFile(path) => self.open(Input::File(path), ctx),
                Command::OpenAt(path, place) => {
                    self.open(Input::File(path), ctx);
                    self.documents.last_mut().into_iter().for_each(|document| document.visit(place.clone()));
                }
                Command::Compare(paths) => self.compare_files(paths, ctx),
                Command::OpenSample(input) => self.open(input, ctx),
                Command::Reload(at) => self.reload(at, ctx),
                Command::AllowMemory(at, bytes) => self.allow_memory(at, bytes, ctx),
                Command::CopyLink(at) => self.copy_link(at, ctx),
                Command::Close(at) => self.close(at),
                Command::CloseOthers(at) => self.close_others(at),
                Command::Show(at) => self.current = at,
                Command::ShowNext(by) => self.show_tab(by),
                Command::ForgetRecent => self.glances.forget_recent(),
                Command::ChangeRule(change) => self.change_rule(&change, ctx),
                Command::UseRules(path) => self.use_rules(path, ctx),
                Command::ResetLayout => self.layout = Layout::default(),
                Command::Export(choice) => self.show_export_panel(choice),
                Command::CopyPicture(choice) => {
                    let redacts = self.export_panel.redacts();
                    self.export(ExportOrder { choice, target: Target::Clipboard, redacts }, ctx);
                }
                Command::SearchCommands if self.search.is_open() => self.search.close(ctx),
                Command::SearchCommands => {
                    let shown = self.shown();
                    self.search.open(ctx, command_search::entries(&shown));
                }
                Command::Settings => files::tabs::open_settings(ctx),
                Command::Theme(theme) => ctx.set_theme(theme),
                Command::TextSize(size) => text_size::change(ctx, size),
                Command::Help => self.shows_help = !self.shows_help,
                Command::DismissNotice => self.notice = None,
            }
            ctx.request_repaint();
        }
        debug_assert!(self.current < self.documents.len().max(1), "no such tab");
    }

    /// Show a message in the status bar of the current file, or below everything if none is open.
    fn notify(&mut self, notice: Option<String>) {
        let Some(notice) = notice else { return };
        match self.shown_device() {
            Some(device) => device.notice = Some(notice),
            None => self.notice = Some(notice),
        }
    }
}

impl App {
    /// Everything before a frame is drawn. Results and keys come in first, so that the frame shows them.
    fn prepare(&mut self, ctx: &egui::Context) {
        self.take_files(ctx);
        self.poll_documents(ctx);
        self.notice = defect::take(ctx).or(self.notice.take());
        self.glances.update(ctx);
        self.remember_verdicts();
        let open = self.documents.iter().filter_map(|document| document.input().path());
        self.watch.watch(open.chain(self.glances.recent()), ctx.input(|input| input.focused));
        if let Some(outcome) = self.exporter.outcome() {
            let said = self.export_panel.take_outcome(outcome, ctx);
            self.notify(said);
        }
        for document in &mut self.documents {
            document.prefer(&self.preferences);
        }
        self.run_keys(ctx);
        focus::reveal(ctx);
        self.run_commands(ctx);
        self.update_title(ctx);
    }

    /// Carry out the actions of the keys that were pressed.
    fn run_keys(&mut self, ctx: &egui::Context) {
        menus::take_keys(ctx);
        let has_menu = menus::is_open(ctx);
        if !menus::has_popup(ctx) {
            self.escape(ctx);
        }
        for action in keys::pressed(ctx, has_menu || self.search.is_open()) {
            if has_menu && !matches!(action, KeyAction::Window(Command::TextSize(_))) {
                egui::Popup::close_all(ctx);
            }
            self.act(action);
        }
    }

    /// Escape closes what lies over the window before it means anything else.
    fn escape(&mut self, ctx: &egui::Context) {
        if self.shows_help && keys::take_escape(ctx) {
            self.shows_help = false;
        }
        if (self.open_panel.is_shown() || self.export_panel.is_shown()) && keys::take_escape(ctx) {
            self.open_panel.close();
            self.export_panel.close();
        }
        // So does a note that is being written.
        if self.is_writing_note() && keys::take_escape(ctx) {
            self.shown_device().into_iter().for_each(|device| device.states.notes.cancel());
        }
        if self.search.is_open() && keys::take_escape(ctx) {
            self.search.close(ctx);
        }
        // What lies lowest comes last.
        if self.is_first && !self.documents.is_empty() && keys::take_escape(ctx) {
            self.is_first = false;
        }
    }

    /// Carry out the action of a key, or of a line in the search for commands.
    fn act(&mut self, action: &KeyAction) {
        match action {
            // The tab that is shown now: a file that is opened in this frame becomes the next one.
            KeyAction::CloseShown => self.commands.push(Command::Close(self.current)),
            KeyAction::ReloadShown => self.commands.push(Command::Reload(self.current)),
            KeyAction::LinkShown => self.commands.push(Command::CopyLink(self.current)),
            KeyAction::Window(command) => self.commands.push(command.clone()),
            KeyAction::ShowDevice(at) => {
                if let Some(file) = self.documents.get_mut(self.current).and_then(Document::open_file) {
                    file.current = (*at).min(file.devices.len().saturating_sub(1));
                }
            }
            action => {
                if let Some(device) = self.shown_device() {
                    keys::act(action, device);
                }
            }
        }
    }

    fn shown_device(&mut self) -> Option<&mut OpenDevice> {
        self.device_of(self.current)
    }

    fn is_writing_note(&mut self) -> bool {
        self.shown_device().is_some_and(|device| device.states.notes.is_writing())
    }

    /// What is open, as far as commands depend on it.
    fn shown(&mut self) -> command_search::Shown {
        let files = self.documents.iter().map(|document| document.title().to_owned()).collect();
        let recent = files::recent::files(&self.glances, &self.watch);
        let recent = recent.into_iter().filter_map(|file| file.openable()).collect();
        let file = self.documents.get_mut(self.current).and_then(Document::open_file);
        let devices = file.into_iter().flat_map(|file| &file.devices);
        let devices = devices.map(|device| device.recording.device.to_string()).collect();
        command_search::Shown { files, devices, recent }
    }

    /// Tell the device that is shown which others are open, and move the cursors that it wants to be moved.
    fn link_devices(&mut self) {
        let Some((recording, moment)) =
            self.shown_device().and_then(|device| device.states.compare.moved.take())
        else {
            return self.offer_others();
        };
        let files = self.documents.iter_mut().filter_map(Document::open_file);
        for device in files.flat_map(|file| &mut file.devices) {
            if device.recording == recording {
                device.at.move_to(moment);
            }
        }
        self.offer_others();
    }

    fn offer_others(&mut self) {
        let files = self.documents.iter_mut().filter_map(Document::open_file);
        let others: Vec<_> = files
            .flat_map(|file| {
                let has_several = 1 < file.devices.len();
                file.devices.iter().map(move |device| device.as_other(has_several))
            })
            .collect();
        let files = self.documents.iter_mut().filter_map(Document::open_file);
        for device in files.flat_map(|file| &mut file.devices) {
            device.states.compare.forget_closed(&others);
        }
        if let Some(device) = self.shown_device() {
            device.states.compare.others = others;
        }
        self.compare_opened();
    }

    /// Draw a frame. Bars take their room at the edges first; the page gets the rest.
    fn draw(&mut self, ui: &mut egui::Ui) {
        // Screen readers call the window by what its title bar says.
        let title = self.title.clone();
        ui.ctx().accesskit_node_builder(egui::accesskit_root_id(), |node| node.set_label(title));
        self.link_devices();
        let recent = files::recent::files(&self.glances, &self.watch);
        let (preferences, commands) = (&mut self.preferences, &mut self.commands);
        files::tabs::ui(ui, &mut self.documents, self.current, &recent, preferences, commands);
        if let Some(notice) = &self.notice {
            files::file_page::dismissible_ui(ui, notice, commands);
        }
        match self.documents.get_mut(self.current) {
            None => {
                files::start_page::ui(ui, &recent, &self.samples, &mut self.glances, commands);
            }
            Some(document) => {
                let on_disk = document.input().path().map_or(OnDisk::Unknown, |path| self.watch.seen(path));
                let (layout, glances) = (&mut self.layout, &mut self.glances);
                document.ui(ui, self.current, layout, on_disk, glances, commands);
            }
        }
        files::start_page::drop_hint(ui);
        self.draw_panels(ui.ctx());
        if !self.documents.is_empty() {
            first_hint::ui(ui.ctx(), &mut self.is_first);
        }
        help::ui(ui.ctx(), &mut self.shows_help);
        if let Some(action) = self.search.ui(ui.ctx()) {
            self.act(&action);
        }
        focus::ui(ui);
        // Commands name tabs by number, so they run before anything moves tabs.
        let ctx = ui.ctx().clone();
        self.run_commands(&ctx);
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, frame: &mut eframe::Frame) {
        // Includes the time for handing triangles and pictures to the graphics driver.
        if let Some(seconds) = frame.info().cpu_usage {
            log::trace!("the last frame took {:.2} ms", seconds * 1e3);
        }
        self.prepare(ctx);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.draw(ui);
    }

    fn save(&mut self, storage: &mut dyn eframe::Storage) {
        eframe::set_value(storage, LAYOUT_KEY, &self.layout);
        eframe::set_value(storage, PREFERENCES_KEY, &self.preferences);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}
