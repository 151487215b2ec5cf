//! Where memory was allocated: a flame graph of the stacks, and a table of the sites.

use super::work::{Book, Weighed, Wish, Work};
use super::{flame, sites, toolbar};
use crate::analysis::{Direction, FrameKey, Measure, NodeIx, TreeOptions};
use crate::app::device::DeviceState;
use crate::app::theme;
use crate::draw::FrameColors;
use crate::export::StacksView;
use crate::model::{Moment, Snapshot, StackId};
use crate::report::measure_text;
use crate::units;
use eframe::egui::{self, Panel};
use std::sync::Arc;

/// A narrower pane shows no table.
const MIN_WIDTH_FOR_TABLE_PX: f32 = 620.0;

/// What stacks are weighed by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::app) enum Mode {
    /// Live bytes at the cursor.
    #[default]
    Cursor,
    /// Live bytes at the peak.
    Peak,
    /// What was allocated from the mark to the cursor.
    Allocated,
    /// How much memory was held for how long.
    ByteTime,
}

/// What the panel remembers between frames.
#[derive(Default)]
pub(in crate::app) struct State {
    pub(in crate::app) mode: Mode,
    /// Where ranges start; the user sets it.
    pub(in crate::app) mark: Option<Moment>,
    pub(in crate::app) options: Options,
    /// What is searched for.
    pub(in crate::app) search: String,
    /// The frames from the root to what fills the width.
    pub(in crate::app) zoom: Vec<FrameKey>,
    pub(in crate::app) sites: sites::State,
    pub(in crate::app) flame: flame::State,
    work: Work,
    found: Option<Found>,
    colors: Option<(bool, Arc<FrameColors>)>,
}

/// How the tree is built.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::app) struct Options {
    pub(in crate::app) direction: Direction,
    pub(in crate::app) shows_internal: bool,
}

/// What a search found.
pub(in crate::app) struct Found {
    text: String,
    /// By frame.
    pub(in crate::app) marks: Vec<bool>,
    /// How many frames.
    pub(in crate::app) frames: usize,
    /// What they and everything below them weigh, in the last thing that was weighed.
    pub(in crate::app) weight: i128,
    of: Option<Wish>,
}

/// Everything that is shown in a frame.
pub(in crate::app) struct Shown<'a> {
    /// What is shown, in a sentence.
    pub(in crate::app) summary: &'a str,
    pub(in crate::app) snapshot: &'a Snapshot,
    pub(in crate::app) weighed: &'a Arc<Weighed>,
    pub(in crate::app) colors: &'a FrameColors,
    pub(in crate::app) found: Option<&'a Found>,
    /// What fills the width of the graph.
    pub(in crate::app) zoom: NodeIx,
    /// The stack of the selection.
    pub(in crate::app) selected: Option<StackId>,
}

pub(in crate::app) fn ui(ui: &mut egui::Ui, device: &mut DeviceState) {
    let mut state = std::mem::take(&mut device.panels.stacks);
    state.ui(ui, device);
    device.panels.stacks = state;
}

impl State {
    fn ui(&mut self, ui: &mut egui::Ui, device: &mut DeviceState) {
        let wish = self.wish(device);
        let Some(weighed) = self.work.update(ui.ctx(), device, &wish) else {
            toolbar::ui(ui, self, device, None);
            ui.label(theme::muted(ui, "The call tree is being built…"));
            return;
        };
        self.search(&weighed);
        toolbar::ui(ui, self, device, Some((&weighed, weighed.wish == wish)));
        let (snapshot, colors) = (device.snapshot(), self.colors(ui, device, &weighed.book));
        let found = self.found.take();
        let is_filtered = weighed.wish.kept.is_some();
        let summary = measure_text(weighed.wish.measure, &weighed.totals.all, device.timeline(), is_filtered);
        let shown = Shown {
            summary: &summary,
            snapshot: &snapshot,
            weighed: &weighed,
            colors: &colors,
            found: found.as_ref(),
            zoom: weighed.tree.find(self.zoom.iter().copied()),
            selected: device.selected_stack(),
        };
        if MIN_WIDTH_FOR_TABLE_PX <= ui.available_width() {
            let width = ui.available_width();
            Panel::right("allocation sites")
                .resizable(true)
                .show_separator_line(false)
                .default_size(width * 0.44)
                .size_range(240.0..=width * 0.7)
                .frame(egui::Frame::NONE.inner_margin(egui::Margin { left: 10, ..Default::default() }))
                .show(ui, |ui| sites::ui(ui, &mut self.sites, &shown, device));
        }
        flame::ui(ui, self, &shown, device);
        self.found = found;
    }

    /// Take over from another version of the file what does not depend on its contents.
    pub(in crate::app) fn keep(&mut self, old: &Self) {
        self.mode = old.mode;
        self.options = old.options;
        self.search.clone_from(&old.search);
        self.sites.keep(&old.sites);
    }

    /// What is to be shown.
    fn wish(&self, device: &DeviceState) -> Wish {
        let (cursor, mark) = (device.cursor, self.mark);
        let measure = match (self.mode, mark) {
            (Mode::Cursor, _) => Measure::Live { at: cursor },
            (Mode::Peak, _) => Measure::Live { at: device.figures.peak.0 },
            (Mode::Allocated, mark) => {
                let mark = mark.unwrap_or(Moment::START);
                Measure::Allocated { after: mark.min(cursor), until: mark.max(cursor) }
            }
            (Mode::ByteTime, Some(mark)) => {
                Measure::ByteTime { from: mark.min(cursor), to: mark.max(cursor) }
            }
            (Mode::ByteTime, None) => {
                let last = device.timeline().moments().saturating_sub(1);
                Measure::ByteTime { from: Moment::START, to: Moment(last as u32) }
            }
        };
        let Options { direction, shows_internal } = self.options;
        let options = TreeOptions { direction, folds_internal: !shows_internal };
        Wish { measure, options, kept: device.matches().cloned() }
    }

    /// What is shown, for a picture.
    pub(in crate::app) fn exported(&self, device: &DeviceState) -> StacksView {
        let Wish { measure, options, .. } = self.wish(device);
        StacksView { measure, options, zoom: self.zoom.clone(), search: self.search.clone() }
    }

    /// Set or move the start of ranges, and show such a range.
    pub(in crate::app) fn set_mark(&mut self, at: Moment) {
        self.mark = Some(at);
        if matches!(self.mode, Mode::Cursor | Mode::Peak) {
            self.mode = Mode::Allocated;
        }
    }

    /// Keep up with what is searched for and where.
    fn search(&mut self, weighed: &Weighed) {
        if self.search.trim().is_empty() {
            self.found = None;
            return;
        }
        let known = self.found.take().filter(|found| found.text == self.search);
        let mut found = known.unwrap_or_else(|| {
            let marks = weighed.book.names.search(&self.search);
            let frames = marks.iter().filter(|found| **found).count();
            Found { text: self.search.clone(), marks, frames, weight: 0, of: None }
        });
        if found.of.as_ref() != Some(&weighed.wish) {
            found.weight = weighed.tree.weight_of(&found.marks, &weighed.weights);
            found.of = Some(weighed.wish.clone());
        }
        self.found = Some(found);
    }

    /// Whether what is shown is what was asked for.
    #[cfg(test)]
    pub(in crate::app) fn is_current(&self, device: &DeviceState) -> bool {
        self.weighed().is_some_and(|weighed| weighed.wish == self.wish(device))
    }

    /// What is shown; known once the tree is built.
    #[cfg(test)]
    pub(in crate::app) fn weighed(&self) -> Option<&Weighed> {
        self.work.weighed().map(Arc::as_ref)
    }

    /// What the search found; known once the tree is.
    pub(in crate::app) fn found(&self) -> Option<&Found> {
        self.found.as_ref()
    }

    fn colors(&mut self, ui: &egui::Ui, device: &DeviceState, book: &Book) -> Arc<FrameColors> {
        let palette = theme::palette(ui);
        let known = self.colors.take().filter(|(is_dark, _)| *is_dark == palette.is_dark);
        let new = || (palette.is_dark, Arc::new(FrameColors::new(&device.snapshot(), &book.names, palette)));
        let (_, colors) = self.colors.insert(known.unwrap_or_else(new));
        Arc::clone(colors)
    }
}

/// A share of a whole in percent.
pub(in crate::app) fn share_text(part: i128, whole: i128) -> String {
    // Shares of more than 2^63 are as exact as those of their leading bits.
    let excess = whole.unsigned_abs().checked_ilog2().unwrap_or(0).saturating_sub(62);
    units::percent(units::clamped(part >> excess), units::clamped(whole >> excess))
}
