//! One device of an open file with the states of all its panes.

use super::opening::Opening;
use super::pane::Pane;
use crate::app::compare::others::Other;
use crate::app::device::attributing::FileFacts;
use crate::app::device::{Derived, PaneCtx, Selection, Standpoint, place};
use crate::app::notebook::Notebook;
use crate::app::pointed::OpenMenu;
use crate::app::preferences::Preferences;
use crate::app::work::setup::Setup;
use crate::app::{
    compare, details, filter, holes, legend, notes, range, remedies, segment_map, segment_timeline, stacks,
    tables, timeline, what_if,
};
use crate::model::Recording;
use eframe::egui;
use std::time::SystemTime;

/// A device with everything that is known of it, the place of the user in it, and the states of its panes.
pub(in crate::app) struct OpenDevice {
    pub(in crate::app) recording: Recording,
    pub(in crate::app) derived: Derived,
    pub(in crate::app) at: Standpoint,
    pub(in crate::app) states: PaneStates,
    /// The notes about the file, which its devices share.
    pub(in crate::app) notebook: Notebook,
    /// The file's name, as its tab says it.
    pub(in crate::app) title: String,
    /// A message for the status bar.
    pub(in crate::app) notice: Option<String>,
    /// The pane to bring to the front in the next frame.
    pub(in crate::app) wanted_pane: Option<Pane>,
    /// How far the panes that it opens with have been brought to the front.
    pub(super) opening: Opening,
    /// When it was opened: what its panes scroll and fold is remembered for it alone.
    pub(super) opened_at: SystemTime,
    /// The menu of something that was clicked with the right button.
    pub(in crate::app) menu: Option<OpenMenu>,
}

/// One field for each pane that remembers something, and one for the filter.
#[derive(Default)]
pub(in crate::app) struct PaneStates {
    pub(in crate::app) filter: filter::bar::State,
    pub(in crate::app) timeline: timeline::state::State,
    pub(in crate::app) details: details::state::State,
    pub(in crate::app) legend: legend::state::State,
    pub(in crate::app) segments: segment_map::state::State,
    pub(in crate::app) segment_timeline: segment_timeline::state::State,
    pub(in crate::app) stacks: stacks::panel::State,
    pub(in crate::app) allocations: tables::allocations::State,
    pub(in crate::app) events: tables::events::State,
    pub(in crate::app) iterations: tables::iterations::State,
    pub(in crate::app) holes: holes::panel::State,
    pub(in crate::app) range: range::panel::State,
    pub(in crate::app) modules: tables::modules::State,
    /// The selection whose details were brought to the front last.
    pub(in crate::app) seen: Selection,
    /// A pane that another pane leads to.
    pub(in crate::app) wanted: Option<Pane>,
    pub(in crate::app) what_if: what_if::panel::State,
    pub(in crate::app) remedies: remedies::panel::State,
    pub(in crate::app) notes: notes::state::State,
    pub(in crate::app) compare: compare::panel::State,
}

impl PaneStates {
    /// Take over everything that does not depend on the contents of the file from the states of another
    /// version of it.
    pub(in crate::app) fn keep(&mut self, old: &Self) {
        self.allocations.keep(&old.allocations);
        self.compare.keep(&old.compare);
        self.details.keep(&old.details);
        self.events.keep(&old.events);
        self.holes.keep(&old.holes);
        self.range.keep(&old.range);
        self.remedies.keep(&old.remedies);
        self.segments.keep(&old.segments);
        self.stacks.keep(&old.stacks);
        self.segment_timeline.keep(&old.segment_timeline);
    }
}

impl OpenDevice {
    pub(in crate::app) fn new(
        recording: Recording,
        title: &str,
        notebook: Notebook,
        facts: FileFacts,
        ctx: &egui::Context,
        setup: &Setup,
    ) -> Self {
        Self {
            derived: Derived::new(&recording, facts, ctx, setup),
            at: Standpoint::new(&recording),
            states: PaneStates::default(),
            notebook,
            title: title.to_owned(),
            notice: None,
            wanted_pane: None,
            opening: Opening::default(),
            opened_at: SystemTime::now(),
            menu: None,
            recording,
        }
    }

    /// Take over everything about the panes that does not depend on the contents of the file.
    pub(in crate::app) fn keep(&mut self, old: &Self) {
        self.states.keep(&old.states);
        (self.opening, self.opened_at) = (old.opening.clone(), old.opened_at);
    }

    /// The file opens with this device, where it was to open with another one.
    pub(in crate::app) fn open_instead_of(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.opening, &mut other.opening);
    }

    /// The file opens with this device.
    pub(in crate::app) fn open_first(&mut self) {
        self.opening = Opening::New;
    }

    /// Go on where the user was with the same recording, whose categories are now others.
    pub(in crate::app) fn take_over(&mut self, old: Self) {
        self.keep(&old);
        self.states.seen = old.states.seen;
        self.at = old.at;
        self.notebook = old.notebook;
        self.notice = old.notice;
        self.wanted_pane = old.wanted_pane;
    }

    /// This device for those that may be compared with it; named with its number where its file has several.
    pub(in crate::app) fn as_other(&self, has_several: bool) -> Other {
        let title = if has_several {
            format!("{}, {}", self.title, self.recording.device)
        } else {
            self.title.clone()
        };
        let (recording, attribution) = (self.recording.clone(), self.derived.attribution_cell());
        Other { title, recording, attribution, cursor: self.at.cursor, range: self.at.range() }
    }

    /// The context that panes are given, and their states.
    pub(super) fn split(&mut self) -> (PaneCtx<'_>, &mut PaneStates) {
        let Self { recording, derived, at, states, notebook, title, notice, .. } = self;
        (PaneCtx { recording, derived, at, notebook, title, notice }, states)
    }

    /// Apply the user's preferences. Called in every frame.
    pub(in crate::app) fn prefer(&mut self, preferences: &Preferences) {
        self.derived.give_capacity(preferences.capacity);
        let editor_command = &mut self.states.details.editor_command;
        if *editor_command != preferences.editor_command {
            editor_command.clone_from(&preferences.editor_command);
        }
    }

    /// Begin a note at this place.
    pub(in crate::app) fn begin_note(&mut self) {
        self.states.notes.begin(place::place(&self.recording, &self.at));
    }

    /// The field of the note that is being written, if one is.
    pub(in crate::app) fn note_ui(&mut self, egui: &egui::Context) {
        let (mut ctx, states) = self.split();
        notes::field::ui(egui, &mut ctx, &mut states.notes);
    }

    /// Start ranges at the cursor.
    pub(in crate::app) fn set_mark(&mut self) {
        self.at.mark = Some(self.at.cursor);
        self.states.stacks.controls.show_range();
    }
}
