//! The attribution of a device (categories, iterations and phases), found once in the background.

use crate::work::background::Background;
use crate::work::setup::Setup;
use crate::work::worker::{Task, WorkMode};
use eframe::egui;
use oomscope_analysis::{Attribution, Facts, UserRules};
use oomscope_model::Recording;
use std::sync::{Arc, OnceLock};

/// Facts that all devices of a file share, read by the one that asks first.
pub(crate) type FileFacts = Arc<OnceLock<Facts>>;

/// The attribution of a device, found by whoever asks first. Clones share it.
#[derive(Clone)]
pub(crate) struct AttributionCell {
    recording: Recording,
    rules: Arc<UserRules>,
    facts: FileFacts,
    found: Arc<OnceLock<Arc<Attribution>>>,
}

impl AttributionCell {
    /// For a device of a file.
    fn new(recording: Recording, rules: Arc<UserRules>, facts: FileFacts) -> Self {
        Self { recording, rules, facts, found: Arc::default() }
    }

    /// The attribution. The first call takes its time, so it is not for the window's thread.
    pub(crate) fn get(&self) -> Arc<Attribution> {
        let facts = || Facts::of(self.recording.snapshot(), &self.rules);
        let find = || Arc::new(Attribution::of_device(self.facts.get_or_init(facts), &self.recording));
        Arc::clone(self.found.get_or_init(find))
    }
}

impl Task for AttributionCell {
    type Request = ();
    type Response = Arc<Attribution>;

    fn run(&self, (): &()) -> Arc<Attribution> {
        self.get()
    }
}

/// An [`AttributionCell`], and the thread that fills it.
pub(crate) struct Attributing {
    cell: AttributionCell,
    background: Background<AttributionCell>,
    ctx: egui::Context,
    mode: WorkMode,
}

impl Attributing {
    /// For a device of a file.
    pub(crate) fn new(recording: Recording, facts: FileFacts, ctx: &egui::Context, setup: &Setup) -> Self {
        let cell = AttributionCell::new(recording, Arc::clone(&setup.rules), facts);
        Self { cell, background: Background::default(), ctx: ctx.clone(), mode: setup.mode }
    }

    /// A handle for other threads.
    pub(crate) fn cell(&self) -> AttributionCell {
        self.cell.clone()
    }

    /// The attribution, once it is there. To be asked in every frame.
    pub(crate) fn get(&mut self) -> Option<Arc<Attribution>> {
        let start = || self.cell.clone();
        self.background.ask(&(), &self.ctx, self.mode, "attribution", start).cloned()
    }
}
