//! One tab: a file that is loading, failed, or open, or a folder.

use super::folder::page::FolderPage;
use super::glances::{Glance, Glances};
use super::load_page::Failure;
use super::names;
use super::open_file::OpenFile;
use super::reload::Reload;
use super::watch::OnDisk;
use super::{file_page, load_page, loading, rules_offer};
use crate::command::Command;
use crate::context;
use crate::device::place;
use crate::panes::Layout;
use crate::preferences::Preferences;
use crate::rules::{self, Changed, Places, RuleChange};
use crate::work::setup::Setup;
use eframe::egui;
use oomscope_analysis::UserRules;
use oomscope_report::notes::{Place, command_line};
use oomscope_snapshot::load::{FileStamp, Input, LoadError, LoadJob, LoadOutcome};
use oomscope_units as units;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tr::tr;

/// Time between two pictures of the progress: short enough to look smooth.
const PROGRESS_TICK: Duration = Duration::from_millis(50);

/// One file.
pub(crate) struct Document {
    input: Input,
    title: String,
    state: State,
    reload: Reload,
    /// Memory that the user allows the file, in bytes.
    max_memory: Option<u64>,
    /// The version whose verdict lists know.
    remembered: Option<FileStamp>,
    /// The place to go to as soon as the file is open.
    go: Option<Place>,
    /// Rules that the user made for this file, and the file that they are in.
    rules: Option<(Arc<UserRules>, PathBuf)>,
}

/// The news about a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadProgress {
    /// None since the last frame, or none that concerns other tabs.
    NothingNew,
    /// The file is open now.
    Opened,
    /// The user cancelled: the tab is to go.
    Cancelled,
}

enum State {
    Loading(LoadJob),
    Failed(Failure),
    Open(Box<OpenFile>),
    Folder(Box<FolderPage>),
}

impl Document {
    /// Start loading a file.
    pub(crate) fn load(input: Input, ctx: &egui::Context) -> Self {
        let state = State::loading(&input, None, ctx);
        let title = match input.path().filter(|path| path.file_name().is_some()) {
            Some(path) => names::file_name(path),
            None => units::printable(&input.name()),
        };
        Self {
            title,
            input,
            state,
            reload: Reload::default(),
            max_memory: None,
            remembered: None,
            go: None,
            rules: None,
        }
    }

    /// Go to a place, now or as soon as the file is open.
    pub(crate) fn visit(&mut self, place: Place) {
        match &mut self.state {
            State::Open(file) => file.visit(&place),
            _ => self.go = Some(place),
        }
    }

    /// The command that opens the file as it is shown; `None` if it is no file that is open.
    pub(crate) fn link(&mut self) -> Option<String> {
        // By its name alone: a colleague has it in another folder.
        let name = self.input.path()?.file_name()?.to_string_lossy().into_owned();
        let device = self.open_file()?.device()?;
        Some(command_line(&name, &place::place(&device.recording, &device.at)))
    }

    /// Load the file again. The old version stays until the new one is there.
    pub(crate) fn load_again(&mut self, ctx: &egui::Context) {
        match &mut self.state {
            State::Loading(_) => {}
            State::Failed(_) => self.state = State::loading(&self.input, self.max_memory, ctx),
            // Standard input can be read once.
            State::Open(_) if self.input.path().is_none() => {}
            State::Open(_) => self.reload.start(&self.input, self.max_memory, ctx),
            State::Folder(page) => page.list_again(),
        }
    }

    /// Load a file that met the bound of memory with this much, in bytes. Later loads may take as much.
    pub(crate) fn allow_memory(&mut self, bytes: u64, ctx: &egui::Context) {
        self.max_memory = Some(bytes);
        self.load_again(ctx);
    }

    /// Take the outcome of the load if there is one.
    pub(crate) fn poll(&mut self, ctx: &egui::Context, setup: &Setup) -> LoadProgress {
        let own = self.rules.is_some().then(|| self.setup(setup));
        let setup = own.as_ref().unwrap_or(setup);
        match &mut self.state {
            // A read that hangs never has an outcome, and is not to keep the tab open.
            State::Loading(job) if job.progress().is_cancelled() => return LoadProgress::Cancelled,
            State::Loading(job) => match job.poll() {
                None => ctx.request_repaint_after(PROGRESS_TICK),
                Some(Err(LoadError::Cancelled { .. })) => return LoadProgress::Cancelled,
                Some(outcome) => {
                    self.reload.shown = job.stamp();
                    self.state = State::of(outcome, &self.input, &self.title, ctx, setup);
                    if let State::Open(file) = &mut self.state {
                        self.go.take().iter().for_each(|place| file.visit(place));
                        return LoadProgress::Opened;
                    }
                }
            },
            State::Failed(_) | State::Folder(_) => {}
            State::Open(file) => {
                file.update_notes();
                if self.reload.is_running() {
                    ctx.request_repaint_after(PROGRESS_TICK);
                }
                if let Some(snapshot) = self.reload.poll() {
                    let old = std::mem::replace(
                        &mut **file,
                        OpenFile::new(&snapshot, &self.input, &self.title, ctx, setup),
                    );
                    file.resume(&old);
                }
            }
        }
        LoadProgress::NothingNew
    }

    pub(crate) fn ui(
        &mut self,
        ui: &mut egui::Ui,
        tab: usize,
        layout: &mut Layout,
        on_disk: OnDisk,
        glances: &mut Glances,
        commands: &mut Vec<Command>,
    ) {
        if matches!(self.state, State::Open(_)) {
            self.reload.banner_ui(ui, on_disk, tab, commands);
        }
        match &mut self.state {
            State::Loading(job) => load_page::progress_ui(ui, &self.title, job),
            State::Failed(failure) => load_page::failure_ui(ui, &self.title, failure, tab, commands),
            State::Open(file) => {
                if let Some(rules) = &file.rules_nearby {
                    rules_offer::ui(ui, rules, commands);
                }
                file_page::ui(ui, file, layout);
                if let Some(device) = file.device() {
                    context::ui(ui, device, commands);
                }
            }
            State::Folder(page) => page.ui(ui, &self.title, tab, glances, commands),
        }
    }

    /// Apply the user's preferences to the file.
    pub(crate) fn prefer(&mut self, preferences: &Preferences) {
        for device in self.open_file().into_iter().flat_map(|file| &mut file.devices) {
            device.prefer(preferences);
        }
    }

    /// The verdict of the file, once it is known; given out once for each version.
    pub(crate) fn new_glance(&mut self) -> Option<(PathBuf, FileStamp, Glance)> {
        let State::Open(file) = &self.state else { return None };
        let (path, stamp) = (self.input.path()?, self.reload.shown?);
        // Rules of the user make other verdicts than lists show.
        if self.remembered == Some(stamp) || self.rules.is_some() {
            return None;
        }
        let glance = file.glance()?;
        self.remembered = Some(stamp);
        Some((path.to_owned(), stamp, glance))
    }

    /// The settings of the window, with the rules of this file.
    fn setup(&self, setup: &Setup) -> Setup {
        let mut setup = setup.clone();
        if let Some((rules, path)) = &self.rules {
            (setup.rules, setup.rules_file) = (Arc::clone(rules), Some(path.clone()));
        }
        setup
    }

    /// Change the rules, and find categories by them. Returns what was done.
    pub(crate) fn change_rule(
        &mut self,
        change: &RuleChange,
        ctx: &egui::Context,
        setup: &Setup,
    ) -> Option<String> {
        let used = self.setup(setup).rules_file;
        let State::Open(file) = &mut self.state else { return None };
        let snapshot = Arc::clone(file.device()?.recording.snapshot());
        let beside = self.input.path().and_then(Path::parent).map(Path::to_owned);
        let places = Places { used, beside, settings: setup.settings_folder.clone() };
        match rules::change(&places, change, |rules| rules.of_stack(&snapshot, change.stack)) {
            Err(why) => Some(tr!("No rule was written: {why}", why)),
            Ok(Changed { path, rules }) => {
                let said = change.said(&path);
                self.apply(rules, path, ctx, setup);
                Some(said)
            }
        }
    }

    /// Apply the rules of a file. Returns what was done.
    pub(crate) fn use_rules(&mut self, path: PathBuf, ctx: &egui::Context, setup: &Setup) -> String {
        let shown = units::printable(&path.to_string_lossy());
        match rules::read_rules(&path) {
            Err(why) => tr!("{shown} is not used: {why}", shown, why),
            Ok(rules) => {
                self.apply(rules, path, ctx, setup);
                tr!("The rules of {shown} say what memory is for", shown)
            }
        }
    }

    /// Find categories anew, by the rules of a file.
    fn apply(&mut self, rules: UserRules, path: PathBuf, ctx: &egui::Context, setup: &Setup) {
        self.rules = Some((Arc::new(rules), path));
        let setup = self.setup(setup);
        let State::Open(file) = &mut self.state else { return };
        let Some(snapshot) = file.devices.first().map(|device| Arc::clone(device.recording.snapshot()))
        else {
            return;
        };
        let new = OpenFile::new(&snapshot, &self.input, &self.title, ctx, &setup);
        let old = std::mem::replace(&mut **file, new);
        file.take_over(old);
    }

    pub(crate) fn input(&self) -> &Input {
        &self.input
    }

    /// The file's name without its folder.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// Whether it could not be read.
    pub(crate) fn is_failed(&self) -> bool {
        matches!(self.state, State::Failed(_))
    }

    /// The file, if it is loaded.
    pub(crate) fn open_file(&mut self) -> Option<&mut OpenFile> {
        match &mut self.state {
            State::Open(file) => Some(file),
            _ => None,
        }
    }
}

impl State {
    fn loading(input: &Input, max_memory: Option<u64>, ctx: &egui::Context) -> Self {
        loading::start(input, max_memory, ctx)
            .map_or_else(|error| Self::Failed(loading::not_started(&error)), Self::Loading)
    }

    fn of(outcome: LoadOutcome, input: &Input, title: &str, ctx: &egui::Context, setup: &Setup) -> Self {
        match outcome {
            Ok(snapshot) => Self::Open(Box::new(OpenFile::new(&snapshot, input, title, ctx, setup))),
            Err(error) => {
                if let Some(path) = input.path().filter(|_| error.is_directory()) {
                    return Self::Folder(Box::new(FolderPage::new(path.to_owned(), setup)));
                }
                Self::Failed(loading::failed(&error, input))
            }
        }
    }
}
