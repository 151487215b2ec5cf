//! The pane *At the cursor*: its place, the totals there, and what they consist of.

use super::state::State;
use super::{bar, entries};
use crate::device::figures::Figures;
use crate::device::{Pane, PaneCtx, TimelineMode};
use crate::swatches::{hollow, swatch};
use crate::theme;
use eframe::egui;
use oomscope_draw::POOL_LEGEND;
use oomscope_model::{Moment, Timeline};
use oomscope_units as units;
use tr::tr;

/// Room for the scroll bar, in points.
const SCROLL_BAR_PX: f32 = 10.0;

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // The scroll bar floats over the right edge.
        ui.set_max_width(ui.available_width() - SCROLL_BAR_PX);
        ui.spacing_mut().item_spacing.y = 2.0;
        let palette = theme::palette(ui);
        let timeline = ctx.recording.timeline();
        let place = place(timeline, ctx.at.cursor, &ctx.derived.figures);
        ui.add(egui::Label::new(theme::strong(place, 14.0)).truncate());
        entries::ui(ui, palette, timeline, ctx.at.cursor);
        let rows = self.rows(ctx, palette);
        let active = timeline.active_at(ctx.at.cursor);
        let is_filtered = ctx.derived.matches().is_some();
        if is_filtered {
            let (size, active) = (units::bytes(rows.bytes), active.written(units::bytes));
            let text = tr!(
                "{size} of {active} match in {count} block" | "{size} of {active} match in {count} blocks" % rows.blocks,
                size,
                active,
                count = units::count(rows.blocks as u64)
            );
            ui.label(theme::muted(ui, text)).on_hover_text(units::bytes_exact(rows.bytes));
        }
        if ctx.at.timeline_mode == TimelineMode::Segments && ctx.at.color_by.needs_attribution() {
            let note =
                tr!("Segments serve several categories: they have the colours of the stacks that reserved them.");
            ui.add(egui::Label::new(theme::muted(ui, note).size(11.0)).wrap());
        }
        if ctx.derived.figures.has_private_pools && ctx.at.timeline_mode == TimelineMode::Blocks {
            swatch(ui, POOL_LEGEND, |painter, mark| hollow(painter, mark, palette));
        }
        ui.add_space(4.0);
        // Without a filter, the total is that of the curve, as in all other views.
        let total = if is_filtered { rows.bytes } else { active.recorded };
        if let Some(query) = bar::ui(ui, &rows.all, total) {
            ctx.at.toggle_filter(query);
        }
    });
    }
}

/// The place of the cursor in words.
fn place(timeline: &Timeline, cursor: Moment, figures: &Figures) -> String {
    let place = match cursor.event() {
        Some(event) => tr!("After event {}", units::count(event.0)),
        None if !figures.has_history => tr!("When the snapshot was taken"),
        None => tr!("Before the first event"),
    };
    if timeline.ooms.binary_search_by_key(&cursor.event(), |oom| Some(oom.event)).is_ok() {
        tr!("{place} · OOM", place)
    } else if cursor == figures.peak.0 && figures.has_history {
        tr!("{place} · peak", place)
    } else {
        place
    }
}
