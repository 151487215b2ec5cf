//! Where memory was allocated: a flame graph of the stacks, and a table of the sites.

use super::controls::Controls;
use super::shown::{Found, Shown};
use super::weighing::{StackNames, StacksRequest, Weighed, Weighing};
use super::{flame, sites, toolbar};
use crate::app::device::{Derived, PaneCtx, Standpoint};
use crate::app::theme;
use crate::app::work::memo::Memo;
use crate::draw::FrameColors;
use crate::export::StacksView;
use crate::model::{Recording, Timeline};
use crate::report::measure_text;
use eframe::egui::{self, Panel};
use std::sync::Arc;

/// A narrower pane shows no table.
const MIN_WIDTH_FOR_TABLE_PX: f32 = 620.0;

/// The user's choices, and what was computed for them last.
#[derive(Default)]
pub(in crate::app) struct State {
    pub(in crate::app) controls: Controls,
    pub(in crate::app) sites: sites::State,
    pub(in crate::app) flame: flame::State,
    weighing: Weighing,
    found: Option<Found>,
    /// By whether the theme is dark.
    colors: Memo<bool, Arc<FrameColors>>,
}

pub(in crate::app) fn ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State) {
    let recording = ctx.recording;
    let request = state.controls.request(ctx.derived, ctx.at, recording);
    let weighed = state.weighing.update(ui.ctx(), recording, ctx.derived.work_mode, &request);
    let Some(weighed) = weighed else {
        toolbar::ui(ui, &mut state.controls, ctx.at, None);
        ui.label(theme::muted(ui, "The call tree is being built…"));
        return;
    };
    state.search(&weighed);
    let counted = toolbar::Counted {
        weighed: &weighed,
        found: state.found.as_ref(),
        is_current: weighed.request == request,
    };
    toolbar::ui(ui, &mut state.controls, ctx.at, Some(&counted));
    let colors = state.colors(ui, recording, &weighed.names);
    let is_filtered = weighed.request.kept.is_some();
    let summary = measure_text(weighed.request.measure, &weighed.totals.all, recording, is_filtered);
    let shown = Shown {
        summary: &summary,
        snapshot: recording.snapshot(),
        weighed: &weighed,
        colors: &colors,
        found: state.found.as_ref(),
        zoom: weighed.tree.find(state.controls.zoom.iter().copied()),
        selected: ctx.at.selected_stack(),
    };
    if MIN_WIDTH_FOR_TABLE_PX <= ui.available_width() {
        let width = ui.available_width();
        Panel::right("allocation sites")
            .resizable(true)
            .show_separator_line(false)
            .default_size(width * 0.44)
            .size_range(240.0..=width * 0.7)
            .frame(egui::Frame::NONE.inner_margin(egui::Margin { left: 10, ..Default::default() }))
            .show(ui, |ui| sites::ui(ui, &mut state.sites, &shown, ctx.at));
    }
    flame::ui(ui, &mut state.flame, &mut state.controls.zoom, &shown, ctx.at);
}

impl State {
    /// Take over from another version of the file what does not depend on its contents.
    pub(in crate::app) fn keep(&mut self, old: &Self) {
        self.controls.keep(&old.controls);
        self.sites.keep(&old.sites);
    }

    /// What is shown, for a picture.
    pub(in crate::app) fn exported(
        &self,
        derived: &Derived,
        at: &Standpoint,
        timeline: &Timeline,
    ) -> StacksView {
        let StacksRequest { measure, options, .. } = self.controls.request(derived, at, timeline);
        let Controls { zoom, search, .. } = self.controls.clone();
        StacksView { measure, options, zoom, search }
    }

    /// Keep up with what is searched for and where.
    fn search(&mut self, weighed: &Weighed) {
        let search = &self.controls.search;
        if search.trim().is_empty() {
            self.found = None;
            return;
        }
        let known = self.found.take().filter(|found| found.text == *search);
        let mut found = known.unwrap_or_else(|| {
            let marks = weighed.names.frames.search(search);
            let frames = marks.iter().filter(|found| **found).count();
            Found { text: search.clone(), marks, frames, weight: 0, of: None }
        });
        if found.of.as_ref() != Some(&weighed.request) {
            found.weight = weighed.tree.weight_of(&found.marks, &weighed.weights);
            found.of = Some(weighed.request.clone());
        }
        self.found = Some(found);
    }

    /// Whether what is shown is what was asked for.
    #[cfg(test)]
    pub(in crate::app) fn is_current(&self, derived: &Derived, at: &Standpoint, timeline: &Timeline) -> bool {
        self.weighed().is_some_and(|weighed| weighed.request == self.controls.request(derived, at, timeline))
    }

    /// What is shown; known once the tree is built.
    #[cfg(test)]
    pub(in crate::app) fn weighed(&self) -> Option<&Weighed> {
        self.weighing.weighed().map(Arc::as_ref)
    }

    fn colors(&self, ui: &egui::Ui, recording: &Recording, names: &StackNames) -> Arc<FrameColors> {
        let palette = theme::palette(ui);
        let new = || Arc::new(FrameColors::new(recording.snapshot(), &names.frames, palette));
        self.colors.get(palette.is_dark, new)
    }
}
