//! Two flame graphs side by side: the stacks that have more at a later moment, and those that have less.

use super::flame;
use super::shown::Shown;
use super::weighing::{StacksRequest, Weighed, Weighing};
use crate::device::{PaneCtx, Standpoint};
use crate::theme;
use crate::work::by_ptr::ByPtr;
use eframe::egui::{self, Rect};
use oomscope_analysis::{FrameKey, Measure};
use oomscope_draw::Coloring;
use oomscope_report::weight_text;
use std::sync::Arc;
use tr::tr;

/// Smallest share of the width that a graph has, so that it can be read beside a much larger one.
const MIN_SHARE: f32 = 0.3;

/// Space between the graphs, in points.
const GAP_PX: f32 = 10.0;

/// The graph of the stacks that have less.
#[derive(Default)]
pub(crate) struct Shrunk {
    pub(super) flame: flame::State,
    weighing: Weighing,
}

impl Shrunk {
    /// The weights beside those of a request for growth; `None` for other requests, and until they are known.
    pub(super) fn update(
        &mut self,
        egui: &egui::Context,
        ctx: &PaneCtx<'_>,
        grown: &Weighing,
        request: &StacksRequest,
        coloring: &ByPtr<Coloring>,
    ) -> Option<Arc<Weighed>> {
        let Measure::Grown { from, to } = request.measure else { return None };
        let request = StacksRequest { measure: Measure::Shrunk { from, to }, ..request.clone() };
        self.weighing.share_with(grown);
        self.weighing.update(egui, ctx.recording, ctx.derived.work_mode, &request, coloring)
    }

    /// The answer that is shown.
    #[cfg(test)]
    pub(crate) fn weighed(&self) -> Option<&Weighed> {
        self.weighing.weighed().map(Arc::as_ref)
    }
}

/// Show what grew and what shrank. Both are as wide as their share of the change, and zoomed alike.
pub(super) fn ui(
    ui: &mut egui::Ui,
    graphs: [&mut flame::State; 2],
    zoomed: &mut Vec<FrameKey>,
    shown: [&Shown<'_>; 2],
    at: &mut Standpoint,
) {
    let all = ui.available_rect_before_wrap();
    let [grown, shrunk] = shown.map(|shown| shown.weighed.totals.all.weight as f32);
    let share = if 0.0 < grown + shrunk { grown / (grown + shrunk) } else { 0.5 };
    let (left, right) = all.split_left_right_at_fraction(share.clamp(MIN_SHARE, 1.0 - MIN_SHARE));
    let right = right.with_min_x((right.left() + GAP_PX).min(right.right()));
    let mut side = |rect: Rect, name: &str, sign: &str, state: &mut flame::State, shown: &Shown<'_>| {
        let builder = egui::UiBuilder::new().max_rect(rect).id_salt(name);
        ui.scope_builder(builder, |ui| {
            let totals = &shown.weighed.totals;
            let amount = weight_text(totals.unit, totals.all.weight);
            let title = theme::strong(format!("{name}: {sign}{amount}"), 13.0);
            ui.add(egui::Label::new(title).truncate());
            flame::ui(ui, state, zoomed, shown, at);
        });
    };
    let [of_grown, of_shrunk] = graphs;
    side(left, &tr!("Grew"), "+", of_grown, shown[0]);
    side(right, &tr!("Shrank"), "−", of_shrunk, shown[1]);
}
