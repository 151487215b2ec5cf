//! What fills the memory at the cursor: the request that failed there, categories and sites.

use super::contributors::SiteRow;
use super::state::State;
use super::{categories_view, stack_view};
use crate::app::device::{PaneCtx, Selection};
use crate::app::theme;
use crate::draw::Rgb;
use crate::units;
use eframe::egui::{self, Sense};

/// The request that failed at the cursor, if there is one.
fn oom_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State) {
    let mut to_open = None;
    if let Some(oom) = state.oom(ctx) {
        let red = theme::color(theme::palette(ui).oom);
        ui.label(theme::strong(format!("{} could not be allocated", oom.size), 14.0).color(red));
        if oom.frames.is_empty() {
            ui.label(theme::muted(ui, oom.site.as_str()));
        } else {
            to_open = stack_view::ui(ui, "Stack", &oom.frames, &mut state.shows_internal_frames);
        }
        ui.add_space(14.0);
    }
    if let Some(frame) = to_open {
        ctx.notify(stack_view::open_in_editor(&state.editor_command, &frame));
    }
}

pub(super) fn ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State) {
    oom_ui(ui, ctx, state);
    let timeline = ctx.recording.timeline();
    let (cursor, active) = (ctx.at.cursor, timeline.active.at(ctx.at.cursor));
    let place = match cursor.event() {
        Some(event) => format!("After event {}", units::count(event.0)),
        None if timeline.events.is_empty() => "When the snapshot was taken".to_owned(),
        None => "Before the first event".to_owned(),
    };
    let what = if timeline.ooms.binary_search_by_key(&cursor.event(), |oom| Some(oom.event)).is_ok() {
        " (out of memory)"
    } else if cursor == ctx.derived.figures.peak.0 && !timeline.events.is_empty() {
        " (peak)"
    } else {
        ""
    };
    let coloring = ctx.coloring(theme::palette(ui));
    let is_filtered = ctx.derived.matches().is_some();
    let contributors = state.contributors(ctx);
    ui.label(theme::strong(format!("{place}{what}"), 14.0));
    // Without a filter, the total is the trace's own.
    let total = if is_filtered { contributors.bytes } else { active };
    let (size, blocks) = (units::bytes(total), blocks_text(contributors.blocks));
    let text = if is_filtered {
        format!("{size} of {} match in {blocks}", units::bytes(active))
    } else {
        format!("{size} active in {blocks}")
    };
    ui.label(theme::muted(ui, text)).on_hover_text(units::bytes_exact(total));
    ui.add_space(6.0);
    let category = categories_view::ui(ui, &contributors.categories, total);
    let mut chosen = None;
    let most = contributors.rows.first().map_or(1, |row| row.bytes.max(1));
    for row in &contributors.rows {
        if site_ui(ui, row, most, total, coloring.color(timeline, row.example)) {
            chosen = Some(row.stack);
        }
    }
    if contributors.more != 0 {
        ui.label(theme::muted(ui, format!("and {} more sites", units::count(contributors.more as u64))));
    }
    if contributors.rows.is_empty() {
        let what = if is_filtered { "Nothing matches here." } else { "Nothing is allocated here." };
        ui.label(theme::muted(ui, what));
    } else if contributors.rows.iter().all(|row| row.stack == crate::model::StackId::EMPTY) {
        ui.add_space(6.0);
        let hint = "No stacks were recorded. torch.cuda.memory._record_memory_history(context=\"all\") records them.";
        ui.add(egui::Label::new(theme::muted(ui, hint)).wrap());
    }
    if let Some(category) = category {
        ctx.at.toggle_filter(format!("category:{}", category.key()));
    }
    if let Some(chosen) = chosen {
        ctx.at.select(Selection::Stack(chosen));
    }
}

/// One site with its bar; true when it was clicked.
fn site_ui(ui: &mut egui::Ui, row: &SiteRow, most: i64, total: i64, color: Rgb) -> bool {
    const HEIGHT_PX: f32 = 40.0;
    let palette = theme::palette(ui);
    let (rect, response) =
        ui.allocate_exact_size(egui::vec2(ui.available_width(), HEIGHT_PX), Sense::click());
    let size = units::bytes(row.bytes);
    response
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("{} {size}", row.label)));
    if response.hovered() {
        ui.painter().rect_filled(rect.expand2(egui::vec2(4.0, 0.0)), 4.0, ui.visuals().faint_bg_color);
    }
    let font = egui::TextStyle::Body.resolve(ui.style());
    let (text, muted) = (theme::color(palette.text), theme::color(palette.muted));
    let top = rect.top() + 13.0;
    let figure = ui.painter().text(
        egui::pos2(rect.right(), top),
        egui::Align2::RIGHT_CENTER,
        &size,
        font.clone(),
        text,
    );
    let mut job = egui::text::LayoutJob::simple_singleline(row.label.clone(), font, text);
    job.wrap = egui::text::TextWrapping::truncate_at_width(figure.left() - rect.left() - 10.0);
    let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
    ui.painter().galley(egui::pos2(rect.left(), top - galley.size().y / 2.0), galley, text);
    let share = (row.bytes as f64 / most as f64).clamp(0.0, 1.0) as f32;
    let low = rect.top() + 29.0;
    let note = format!("{} · {}", units::percent(row.bytes, total), blocks_text(row.blocks));
    let note = ui.painter().text(
        egui::pos2(rect.right(), low),
        egui::Align2::RIGHT_CENTER,
        note,
        theme::axis_font(),
        muted,
    );
    let room = note.left() - rect.left() - 10.0;
    let track = egui::Rect::from_min_size(
        egui::pos2(rect.left(), low - 2.0),
        egui::vec2(room.min(rect.width() * 0.58), 4.0),
    );
    ui.painter().rect_filled(track, 2.0, theme::color(palette.line));
    let bar = egui::Rect::from_min_size(track.min, egui::vec2((track.width() * share).max(2.0), 4.0));
    ui.painter().rect_filled(bar, 2.0, theme::color(color));
    let hint = format!(
        "{}\n{}\nClick to select everything with its stack",
        row.label,
        units::bytes_exact(row.bytes)
    );
    response.on_hover_text(hint).on_hover_cursor(egui::CursorIcon::PointingHand).clicked()
}

fn blocks_text(blocks: usize) -> String {
    units::counted(blocks, "block")
}
