//! A selected stack: everything that was allocated with it.

use super::allocation_view::rows_ui;
use super::facts::{FrameText, frames};
use super::stack_view;
use crate::analysis::{site_label, stack_lines};
use crate::app::device::DeviceState;
use crate::app::navigation::Selection;
use crate::app::theme;
use crate::model::{AllocId, Moment, Snapshot, StackId, Timeline};
use crate::units;
use eframe::egui;

/// Facts about the allocations of one stack.
pub(in crate::app) struct SiteFacts {
    stack: StackId,
    site: String,
    /// All of its allocations, in allocation order.
    allocations: Vec<AllocId>,
    largest: Option<AllocId>,
    frames: Vec<FrameText>,
    copy: String,
    /// What is live at a moment: bytes and blocks.
    live: Option<(Moment, i64, usize)>,
    /// What is live at the peak.
    at_peak: (i64, usize),
}

impl SiteFacts {
    pub(in crate::app) fn new(
        snapshot: &Snapshot,
        timeline: &Timeline,
        stack: StackId,
        peak: Moment,
    ) -> Self {
        let Timeline { lifetimes, events, .. } = timeline;
        let ids = (0..lifetimes.len() as u32).map(AllocId);
        let allocations: Vec<AllocId> = ids.filter(|&id| lifetimes.stack(id, events) == stack).collect();
        let size = |id: &&AllocId| (lifetimes.size(**id, events), std::cmp::Reverse(id.0));
        Self {
            stack,
            site: site_label(snapshot, stack),
            largest: allocations.iter().max_by_key(size).copied(),
            allocations,
            frames: frames(snapshot, stack),
            copy: stack_lines(snapshot, stack).collect::<Vec<_>>().join("\n"),
            live: None,
            at_peak: live(timeline, stack, peak),
        }
    }

    /// The stack.
    pub(in crate::app) fn stack(&self) -> StackId {
        self.stack
    }

    fn live_at(&mut self, timeline: &Timeline, moment: Moment) -> (i64, usize) {
        let known = self.live.filter(|known| known.0 == moment);
        let (_, bytes, blocks) = known.unwrap_or_else(|| {
            let (bytes, blocks) = live(timeline, self.stack, moment);
            (moment, bytes, blocks)
        });
        self.live = Some((moment, bytes, blocks));
        (bytes, blocks)
    }

    fn rows(&mut self, timeline: &Timeline, cursor: Moment) -> Vec<(&'static str, String)> {
        let sum = |bytes: i64, blocks: usize| {
            format!("{} in {} blocks", units::bytes_exact(bytes), units::count(blocks as u64))
        };
        let here = self.live_at(timeline, cursor);
        let largest = self.largest.map(|id| timeline.lifetimes.size(id, &timeline.events));
        vec![
            ("At the cursor", sum(here.0, here.1)),
            ("At the peak", sum(self.at_peak.0, self.at_peak.1)),
            ("In all", format!("{} allocations", units::count(self.allocations.len() as u64))),
            ("Largest", largest.map_or_else(String::new, units::bytes_exact)),
        ]
    }

    /// The allocation before or after an allocation; the first or the last without one.
    fn neighbour(&self, of: Option<AllocId>, is_next: bool) -> Option<AllocId> {
        let Some(of) = of else {
            return if is_next { self.allocations.first() } else { self.allocations.last() }.copied();
        };
        let at = self.allocations.partition_point(|&id| id < of);
        let at = if is_next {
            at + usize::from(self.allocations.get(at) == Some(&of))
        } else {
            at.checked_sub(1)?
        };
        self.allocations.get(at).copied()
    }
}

fn live(timeline: &Timeline, stack: StackId, moment: Moment) -> (i64, usize) {
    let Timeline { lifetimes, events, .. } = timeline;
    let of_stack = lifetimes.live_at(moment).filter(|&id| lifetimes.stack(id, events) == stack);
    of_stack.fold((0, 0), |(bytes, blocks), id| {
        (i64::saturating_add(bytes, lifetimes.size(id, events)), blocks + 1)
    })
}

pub(in crate::app) fn ui(ui: &mut egui::Ui, device: &mut DeviceState) {
    let snapshot = device.snapshot();
    let Some(timeline) = snapshot.timelines.get(device.index()) else { return };
    let (cursor, editor) = (device.cursor, device.editor_command.clone());
    let mut shows_internal = device.shows_internal_frames;
    let (mut selected, mut filters) = (None, false);
    let Some(facts) = device.site_facts() else { return };
    ui.horizontal(|ui| {
        ui.label(theme::strong("Everything with this stack", 14.0));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if ui.button("Close").on_hover_text("Unselect (Esc)").clicked() {
                selected = Some(Selection::None);
            }
            if ui.button("Copy").on_hover_text("Copy the stack").clicked() {
                ui.copy_text(facts.copy.clone());
            }
        });
    });
    ui.add(egui::Label::new(theme::muted(ui, facts.site.as_str())).wrap());
    ui.add_space(6.0);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(10.0, 4.0);
        // Links go to the next line as a whole.
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        // What was allocated last before the cursor, and first after it.
        let at_cursor = timeline.lifetimes.first_after(cursor);
        let choices = [
            ("largest", "Select the largest of its allocations", facts.largest),
            (
                "previous",
                "Select the last one that was allocated before the cursor",
                facts.neighbour(at_cursor, false),
            ),
            (
                "next",
                "Select the first one that is allocated after the cursor",
                facts.neighbour(at_cursor, true),
            ),
        ];
        for (name, hint, id) in choices {
            if let Some(id) = id
                && ui.link(name).on_hover_text(hint).clicked()
            {
                selected = Some(Selection::Allocation(id));
            }
        }
        let hint = "Find what the same line allocates, with any stack";
        filters = ui.link("filter to this site").on_hover_text(hint).clicked();
    });
    ui.add_space(6.0);
    rows_ui(ui, "site", &facts.rows(timeline, cursor));
    ui.add_space(10.0);
    let clicked = stack_view::ui(ui, "Stack", &facts.frames, &mut shows_internal);
    device.shows_internal_frames = shows_internal;
    if let Some(frame) = clicked {
        device.notify(stack_view::open_in_editor(&editor, &frame));
    }
    if filters && let Selection::Stack(stack) = device.selection() {
        device.filter_to_site(stack);
    }
    if let Some(selected) = selected {
        device.select(selected);
    }
}
