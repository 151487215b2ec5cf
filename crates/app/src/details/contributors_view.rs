//! Without a selection: the request that failed at the cursor, and the lines of code that hold the memory there.

use super::contributors::{Contributors, SiteRow};
use super::stack_view;
use super::state::State;
use crate::device::{PaneCtx, Selection};
use crate::pointed::{self, Thing};
use crate::texts;
use crate::theme;
use eframe::egui::{self, Align2, Rect, Sense, pos2, vec2};
use oomscope_draw::{Coloring, Rgb};
use oomscope_model::{Bytes, StackId, Timeline};
use oomscope_units as units;
use tr::tr;

/// Height of a site, in points: a line of text, and a bar.
const SITE_PX: f32 = 40.0;

/// Distance from a site's top to the centre of its text, in points.
const TEXT_Y_PX: f32 = 13.0;

/// Distance from a site's top to the centre of its bar, in points.
const BAR_Y_PX: f32 = 29.0;

/// Space between a name and its figure, in points.
const GAP_PX: f32 = 10.0;

/// Height of a bar, in points.
const BAR_PX: f32 = 4.0;

/// Smallest length of a bar, in points: small sites are seen, too.
const MIN_BAR_PX: f32 = 2.0;

/// Largest share of the width that the track of a bar takes, so that all tracks are equally long.
const TRACK_SHARE: f32 = 0.58;

pub(super) fn ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State) {
    oom_ui(ui, ctx, state);
    let timeline = ctx.recording.timeline();
    let coloring = ctx.coloring(theme::palette(ui));
    let is_filtered = ctx.derived.matches().is_some();
    let contributors = state.contributors(ctx.recording, ctx.derived, ctx.at.cursor);
    ui.label(theme::strong(tr!("By line of code, at the cursor"), 14.0));
    // Without a filter, the total is that of the curve, as in all other views.
    let total = if is_filtered { contributors.bytes } else { timeline.active.at(ctx.at.cursor) };
    let text = texts::in_blocks(&units::bytes(total), contributors.blocks);
    ui.label(theme::muted(ui, text)).on_hover_text(units::bytes_exact(total));
    ui.add_space(4.0);
    let site = sites_ui(ui, timeline, &coloring, &contributors, total);
    if contributors.rows.is_empty() {
        let text = if is_filtered { tr!("Nothing matches here.") } else { tr!("Nothing is allocated here.") };
        ui.label(theme::muted(ui, text));
    } else if contributors.rows.iter().all(|row| row.stack == StackId::EMPTY) {
        ui.add_space(6.0);
        let hint = tr!(
            "No stacks were recorded. torch.cuda.memory._record_memory_history(context=\"all\") records them."
        );
        ui.add(egui::Label::new(theme::muted(ui, hint)).wrap());
    }
    if let Some(stack) = site {
        ctx.at.select(Selection::Stack(stack));
    }
}

/// The request that failed at the cursor, if there is one.
fn oom_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State) {
    let Some(oom) = state.oom(ctx.recording, ctx.at.cursor) else { return };
    let red = theme::color(theme::palette(ui).oom);
    ui.label(theme::strong(tr!("{} could not be allocated", oom.size), 14.0).color(red));
    if oom.frames.is_empty() {
        ui.label(theme::muted(ui, oom.site.as_str()));
    } else {
        stack_view::ui(ui, &tr!("Stack"), &oom.frames, None, &mut state.shows_internal_frames);
    }
    ui.add_space(14.0);
}

/// The sites, largest first. Returns the stack of the one that was clicked.
fn sites_ui(
    ui: &mut egui::Ui,
    timeline: &Timeline,
    coloring: &Coloring,
    contributors: &Contributors,
    total: Bytes,
) -> Option<StackId> {
    let mut clicked = None;
    let most = contributors.rows.first().map_or(Bytes(1), |row| row.bytes.max(Bytes(1)));
    for row in &contributors.rows {
        if site_ui(ui, row, most, total, coloring.color(timeline, row.example)) {
            clicked = Some(row.stack);
        }
    }
    if contributors.more != 0 {
        let text = tr!(
            "and {} more site" | "and {} more sites" % contributors.more,
            units::count(contributors.more as u64)
        );
        ui.label(theme::muted(ui, text));
    }
    clicked
}

/// One site with its bar; true if it was clicked. The bar is as long as the site's share of `most` bytes.
fn site_ui(ui: &mut egui::Ui, row: &SiteRow, most: Bytes, total: Bytes, color: Rgb) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), SITE_PX), Sense::click());
    let size = units::bytes(row.bytes);
    response
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("{} {size}", row.label)));
    if response.hovered() {
        ui.painter().rect_filled(rect.expand2(vec2(4.0, 0.0)), 4.0, ui.visuals().faint_bg_color);
    }
    name_ui(ui, rect, &row.label, &size);
    let note = format!("{} · {}", units::percent(row.bytes, total), texts::blocks(row.blocks));
    let share = (row.bytes.as_f64() / most.as_f64()).clamp(0.0, 1.0) as f32;
    share_ui(ui, rect, note, share, color);
    pointed::on(&response, || Some(Thing::Stack(row.stack)));
    let exact = units::bytes_exact(row.bytes);
    let hint = format!("{}\n{exact}\n{}", row.label, tr!("Click to select everything with its stack"));
    response.on_hover_text(hint).on_hover_cursor(egui::CursorIcon::PointingHand).clicked()
}

/// The upper line of a site: its name, cut if it is too long, and its size.
fn name_ui(ui: &egui::Ui, rect: Rect, name: &str, size: &str) {
    let text = theme::color(theme::palette(ui).text);
    let font = egui::TextStyle::Body.resolve(ui.style());
    let y = rect.top() + TEXT_Y_PX;
    let figure = ui.painter().text(pos2(rect.right(), y), Align2::RIGHT_CENTER, size, font.clone(), text);
    let mut job = egui::text::LayoutJob::simple_singleline(name.to_owned(), font, text);
    job.wrap = egui::text::TextWrapping::truncate_at_width(figure.left() - rect.left() - GAP_PX);
    let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
    ui.painter().galley(pos2(rect.left(), y - galley.size().y / 2.0), galley, text);
}

/// The lower line of a site: a bar, and a note.
fn share_ui(ui: &egui::Ui, rect: Rect, note: String, share: f32, color: Rgb) {
    let palette = theme::palette(ui);
    let y = rect.top() + BAR_Y_PX;
    let muted = theme::color(palette.muted);
    let note =
        ui.painter().text(pos2(rect.right(), y), Align2::RIGHT_CENTER, note, theme::axis_font(), muted);
    let room = note.left() - rect.left() - GAP_PX;
    let size = vec2(room.min(rect.width() * TRACK_SHARE), BAR_PX);
    let track = Rect::from_min_size(pos2(rect.left(), y - BAR_PX / 2.0), size);
    ui.painter().rect_filled(track, BAR_PX / 2.0, theme::color(palette.line));
    let length = (track.width() * share).max(MIN_BAR_PX);
    let bar = Rect::from_min_size(track.min, vec2(length, BAR_PX));
    ui.painter().rect_filled(bar, BAR_PX / 2.0, theme::color(color));
}
