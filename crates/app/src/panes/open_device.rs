//! One device of an open file with the states of all its panes.

use super::PaneStates;
use super::opening::Opening;
use crate::compare::others::Other;
use crate::device::PaneId;
use crate::device::attributing::FileFacts;
use crate::device::{Derived, PaneCtx, Selection, Standpoint, Wish, place};
use crate::notebook::Notebook;
use crate::pointed::OpenMenu;
use crate::preferences::Preferences;
use crate::work::setup::Setup;
use crate::{filter, notes};
use eframe::egui;
use oomscope_model::Recording;
use std::time::SystemTime;

/// A device with everything that is known of it, the place of the user in it, and the states of its panes.
pub(crate) struct OpenDevice {
    pub(crate) recording: Recording,
    pub(crate) derived: Derived,
    pub(crate) at: Standpoint,
    pub(crate) states: PaneStates,
    /// The filter above all panes.
    pub(crate) filter: filter::bar::State,
    /// The selection whose details were brought to the front last.
    pub(crate) seen: Selection,
    /// What a pane asks of the others.
    pub(crate) wish: Option<Wish>,
    /// The notes about the file, which its devices share.
    pub(crate) notebook: Notebook,
    /// The file's name, as its tab says it.
    pub(crate) title: String,
    /// A message for the status bar.
    pub(crate) notice: Option<String>,
    /// The pane to bring to the front in the next frame.
    pub(crate) wanted_pane: Option<PaneId>,
    /// How far the panes that it opens with have been brought to the front.
    pub(super) opening: Opening,
    /// When it was opened: what its panes scroll and fold is remembered for it alone.
    pub(super) opened_at: SystemTime,
    /// The menu of something that was clicked with the right button.
    pub(crate) menu: Option<OpenMenu>,
}

impl OpenDevice {
    pub(crate) fn new(
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
            filter: filter::bar::State::default(),
            seen: Selection::None,
            wish: None,
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
    pub(crate) fn keep(&mut self, old: &Self) {
        self.states.keep(&old.states);
        (self.opening, self.opened_at) = (old.opening.clone(), old.opened_at);
    }

    /// The file opens with this device, where it was to open with another one.
    pub(crate) fn open_instead_of(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.opening, &mut other.opening);
    }

    /// The file opens with this device.
    pub(crate) fn open_first(&mut self) {
        self.opening = Opening::New;
    }

    /// Go on where the user was with the same recording, whose categories are now others.
    pub(crate) fn take_over(&mut self, old: Self) {
        self.keep(&old);
        self.seen = old.seen;
        self.at = old.at;
        self.notebook = old.notebook;
        self.notice = old.notice;
        self.wanted_pane = old.wanted_pane;
    }

    /// This device for those that may be compared with it; named with its number where its file has several.
    pub(crate) fn as_other(&self, has_several: bool) -> Other {
        let title = if has_several {
            format!("{}, {}", self.title, self.recording.device)
        } else {
            self.title.clone()
        };
        let (recording, attribution) = (self.recording.clone(), self.derived.attribution_cell());
        let sites = self.derived.stack_labels().cloned();
        Other { title, recording, sites, attribution, cursor: self.at.cursor, range: self.at.range() }
    }

    /// The context that panes are given, and their states.
    pub(super) fn split(&mut self) -> (PaneCtx<'_>, &mut PaneStates) {
        let Self { recording, derived, at, states, notebook, title, wish, notice, .. } = self;
        (PaneCtx { recording, derived, at, notebook, title, wish, notice }, states)
    }

    /// Apply the user's preferences. Called in every frame.
    pub(crate) fn prefer(&mut self, preferences: &Preferences) {
        self.derived.give_capacity(preferences.capacity.or_else(|| self.recording.assumed_memory()));
        let editor_command = &mut self.states.details.editor_command;
        if *editor_command != preferences.editor_command {
            editor_command.clone_from(&preferences.editor_command);
        }
    }

    /// Begin a note at this place.
    pub(crate) fn begin_note(&mut self) {
        self.states.notes.begin(place::place(&self.recording, &self.at));
    }

    /// The field of the note that is being written, if one is.
    pub(crate) fn note_ui(&mut self, egui: &egui::Context) {
        let (mut ctx, states) = self.split();
        notes::field::ui(egui, &mut ctx, &mut states.notes);
    }

    /// Start ranges at the cursor.
    pub(crate) fn set_mark(&mut self) {
        self.at.mark = Some(self.at.cursor);
        self.states.stacks.controls.show_range();
    }
}
