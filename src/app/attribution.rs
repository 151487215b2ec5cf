//! What allocations are for and where iterations and phases lie: found once for each device, in the
//! background.

use crate::analysis::{Attribution, Facts, UserRules};
use crate::app::background::Background;
use crate::app::worker::{RasterMode, Setup, Task};
use crate::model::Snapshot;
use eframe::egui;
use std::sync::{Arc, OnceLock};

/// What all devices of a file share; read by the one that asks first.
pub(super) type FileFacts = Arc<OnceLock<Facts>>;

/// Finds it, or knows it already; handles share what was found.
#[derive(Clone)]
pub(super) struct Finder {
    snapshot: Arc<Snapshot>,
    at: usize,
    rules: Arc<UserRules>,
    facts: FileFacts,
    found: Arc<OnceLock<Arc<Attribution>>>,
}

impl Finder {
    /// For a device of a file.
    fn new(snapshot: Arc<Snapshot>, at: usize, rules: Arc<UserRules>, facts: FileFacts) -> Self {
        Self { snapshot, at, rules, facts, found: Arc::default() }
    }

    /// What was found. Takes its time when it is asked first, so not for the window's thread.
    pub(super) fn get(&self) -> Arc<Attribution> {
        let timeline = &self.snapshot.timelines[self.at];
        let facts = || Facts::of(&self.snapshot, &self.rules);
        let find =
            || Arc::new(Attribution::of_device(self.facts.get_or_init(facts), &self.snapshot, timeline));
        Arc::clone(self.found.get_or_init(find))
    }
}

impl Task for Finder {
    type Wish = ();
    type Done = Arc<Attribution>;

    fn run(&self, (): &()) -> Arc<Attribution> {
        self.get()
    }
}

/// The finder of a device, and the thread that it is asked on.
pub(super) struct Attributing {
    finder: Finder,
    background: Background<Finder>,
    ctx: egui::Context,
    mode: RasterMode,
}

impl Attributing {
    /// For a device of a file.
    pub(super) fn new(
        snapshot: Arc<Snapshot>,
        at: usize,
        facts: FileFacts,
        ctx: &egui::Context,
        setup: &Setup,
    ) -> Self {
        let finder = Finder::new(snapshot, at, Arc::clone(&setup.rules), facts);
        Self { finder, background: Background::default(), ctx: ctx.clone(), mode: setup.mode }
    }

    /// A handle for other threads.
    pub(super) fn finder(&self) -> Finder {
        self.finder.clone()
    }

    /// What was found, once it is there. To be asked in every frame.
    pub(super) fn get(&mut self) -> Option<Arc<Attribution>> {
        let start = || self.finder.clone();
        self.background.ask(&(), &self.ctx, self.mode, "attribution", start).cloned()
    }
}
