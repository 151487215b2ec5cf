//! Memory by the code that allocated it: a flame graph of the stacks, and a table of the sites.

use super::controls::Controls;
use super::shown::{Found, Shown};
use super::weighing::{StacksRequest, Weighed, Weighing};
use super::{change, flame, sites, toolbar};
use crate::device::{Derived, Outline, Pane, PaneCtx, Standpoint};
use crate::theme;
use crate::work::by_ptr::ByPtr;
use crate::work::memo::Memo;
use eframe::egui::{self, Panel};
use oomscope_analysis::NodeIx;
use oomscope_export::StacksView;
use oomscope_model::Timeline;
use oomscope_report::measure_text;
use std::ops::RangeInclusive;
use std::rc::Rc;
#[cfg(test)]
use std::sync::Arc;
use tr::tr;

/// Narrower panes, in points, have no table: it would leave too little room for the names of frames.
const MIN_WIDTH_FOR_TABLE_PX: f32 = 620.0;

/// Share of the room that the table has until the user changes it.
const TABLE_SHARE: f32 = 0.44;

/// Smallest width or height of the table, in points: room for the figures.
const MIN_TABLE_PX: f32 = 240.0;

/// Largest share of the room that the table can have: the graph stays readable.
const MAX_TABLE_SHARE: f32 = 0.7;

/// The user's choices, and the latest results for them.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) controls: Controls,
    pub(crate) sites: sites::State,
    pub(crate) flame: flame::State,
    weighing: Weighing,
    /// The stacks that have less, beside those that have more.
    pub(crate) shrunk: change::Shrunk,
    /// The frames that a search matches, by its text.
    marks: Memo<String, Rc<[bool]>>,
    found: Memo<(String, StacksRequest), Rc<Found>>,
}

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        let recording = ctx.recording;
        let request = self.controls.request(ctx.derived, ctx.at, recording);
        let coloring = ByPtr(ctx.coloring(theme::palette(ui)));
        let weighed = self.weighing.update(ui.ctx(), recording, ctx.derived.work_mode, &request, &coloring);
        let Some(weighed) = weighed else {
            toolbar::ui(ui, &mut self.controls, ctx.at, None);
            ui.label(theme::muted(ui, tr!("The call tree is being built…")));
            return;
        };
        let found = self.search(&weighed);
        let shrunk = self.shrunk.update(ui.ctx(), ctx, &self.weighing, &request, &coloring);
        let counted = toolbar::Counted {
            weighed: &weighed,
            found: found.as_deref(),
            is_current: weighed.request == request,
        };
        toolbar::ui(ui, &mut self.controls, ctx.at, Some(&counted));
        let is_filtered = weighed.request.kept.is_some();
        let summary = measure_text(weighed.request.measure, &weighed.totals.all, recording, is_filtered);
        let shown = Shown {
            summary: &summary,
            recording,
            weighed: &weighed,
            found: found.as_deref(),
            zoom: weighed.tree.find(self.controls.zoom.iter().copied()),
            outlined: outlined(&weighed, ctx.at),
            selected: ctx.at.selected_stack(),
        };
        if let Some(shrunk) = shrunk {
            let graphs = [&mut self.flame, &mut self.shrunk.flame];
            let summary = measure_text(shrunk.request.measure, &shrunk.totals.all, recording, is_filtered);
            let zoom = shrunk.tree.find(self.controls.zoom.iter().copied());
            let outlined = outlined(&shrunk, ctx.at);
            let less = Shown { summary: &summary, weighed: &shrunk, zoom, outlined, ..shown };
            change::ui(ui, graphs, &mut self.controls.zoom, [&shown, &less], ctx.at);
            return;
        }
        table_ui(ui, &mut self.sites, &shown, ctx.at);
        flame::ui(ui, &mut self.flame, &mut self.controls.zoom, &shown, ctx.at);
    }

    fn keep(&mut self, old: &Self) {
        self.controls.keep(&old.controls);
        self.sites.keep(&old.sites);
    }
}

/// The nodes at which the stacks end whose memory a finding is about.
fn outlined(weighed: &Weighed, at: &Standpoint) -> Vec<NodeIx> {
    let stacks = at.marked().map(Outline::stacks).unwrap_or_default();
    let mut nodes: Vec<NodeIx> = stacks.iter().filter_map(|&stack| weighed.tree.leaf_of(stack)).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// The table of sites: beside the graph where there is room for both, or below it in a pane that is higher than wide. It
/// comes first, and the graph takes the rest.
fn table_ui(ui: &mut egui::Ui, state: &mut sites::State, shown: &Shown<'_>, at: &mut Standpoint) {
    let room = ui.available_size();
    let is_tall = room.x < room.y;
    if !is_tall && room.x < MIN_WIDTH_FOR_TABLE_PX {
        return;
    }
    let (panel, length, gap) = if is_tall {
        (Panel::bottom("allocation sites below"), room.y, egui::Margin { top: 10, ..Default::default() })
    } else {
        (Panel::right("allocation sites"), room.x, egui::Margin { left: 10, ..Default::default() })
    };
    let limits: RangeInclusive<f32> = MIN_TABLE_PX..=length * MAX_TABLE_SHARE;
    panel
        .resizable(true)
        .show_separator_line(false)
        .default_size(length * TABLE_SHARE)
        .size_range(limits)
        .frame(egui::Frame::NONE.inner_margin(gap))
        .show(ui, |ui| sites::ui(ui, state, shown, at));
}

impl State {
    /// The flame graph as it is arranged, for a picture.
    pub(crate) fn exported(&self, derived: &Derived, at: &Standpoint, timeline: &Timeline) -> StacksView {
        let StacksRequest { measure, options, .. } = self.controls.request(derived, at, timeline);
        let Controls { zoom, search, .. } = self.controls.clone();
        StacksView { measure, options, zoom, search }
    }

    /// The result of the search, if something is searched for.
    fn search(&self, weighed: &Weighed) -> Option<Rc<Found>> {
        let search = &self.controls.search;
        if search.trim().is_empty() {
            return None;
        }
        // Names are matched once for a text; their weight changes with the cursor.
        Some(self.found.get((search.clone(), weighed.request.clone()), || {
            let marks = self.marks.get(search.clone(), || weighed.names.frames.search(search).into());
            let frames = marks.iter().filter(|is_match| **is_match).count();
            let weight = weighed.tree.weight_of(&marks, &weighed.weights);
            Rc::new(Found { marks, frames, weight })
        }))
    }

    /// True if the answer that is shown is that to the present choices.
    #[cfg(test)]
    pub(crate) fn is_current(&self, derived: &Derived, at: &Standpoint, timeline: &Timeline) -> bool {
        self.weighed().is_some_and(|weighed| weighed.request == self.controls.request(derived, at, timeline))
    }

    /// The answer that is shown, once the tree is built.
    #[cfg(test)]
    pub(crate) fn weighed(&self) -> Option<&Weighed> {
        self.weighing.weighed().map(Arc::as_ref)
    }
}
