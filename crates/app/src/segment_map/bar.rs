//! The tools above the segment map: its arrangement, figures that explain surfaces, and a failed request.

use super::maps::MomentMap;
use super::state::State;
use super::text::{basis_text, use_text};
use crate::device::{Selection, Standpoint};
use crate::swatches::{hatch, stripe};
use crate::texts::{self, marked};
use crate::theme;
use eframe::egui::{self, Rect, Sense, pos2, vec2};
use oomscope_analysis::segment_state::Basis;
use oomscope_draw::Palette;
use oomscope_draw::segment_map::{MapGrouping, MapOrder, REQUEST_PX, fit_text, request};
use oomscope_model::{Bytes, Timeline};
use oomscope_units as units;
use tr::tr;

const ORDERS: [(MapOrder, &str); 3] = [
    (MapOrder::Address, marked!("By address")),
    (MapOrder::Size, marked!("Largest first")),
    (MapOrder::Fill, marked!("Emptiest first")),
];

/// Height, in points, from which there are figures above the map: in less room, the map needs all of it.
const MIN_HEIGHT_FOR_FIGURES_PX: f32 = 130.0;

/// Height, in points, from which a failed request is drawn above the map to scale: the map has rows below it then.
const MIN_HEIGHT_FOR_REQUEST_PX: f32 = 170.0;

/// Height of the sentence that takes its place in less room, in points.
const SENTENCE_PX: f32 = 18.0;

/// Allocations that a hint about contradictions lists at most.
const LISTED_HIDDEN: usize = 6;

/// The arrangement of rows, and the sums at the cursor, which explain the surfaces.
pub(super) fn ui(
    ui: &mut egui::Ui,
    timeline: &Timeline,
    at: &mut Standpoint,
    state: &mut State,
    answer: &MomentMap,
) {
    let room_px = ui.available_height();
    let selected = match at.selection() {
        Selection::Segment { addr } => Some(addr),
        _ => None,
    };
    let tools = ui.horizontal_wrapped(|ui| {
        if selected.is_some() {
            ui.set_min_height(state.tools_px);
        }
        ui.spacing_mut().item_spacing = vec2(8.0, 2.0);
        order_chooser(ui, state);
        let is_grouped = state.arrangement.grouping == MapGrouping::Pool;
        let text = theme::small(tr!("Group by pool"));
        let hint = tr!("Memory of one pool, stream and size class cannot serve requests of another");
        if ui.selectable_label(is_grouped, text).on_hover_text(hint).clicked() {
            state.arrangement.grouping = if is_grouped { MapGrouping::None } else { MapGrouping::Pool };
        }
        if state.is_zoomed() {
            let text = theme::small(tr!("Fit"));
            if ui.button(text).on_hover_text(tr!("Show whole lines again")).clicked() {
                state.reset_zoom();
            }
        }
        ui.spacing_mut().item_spacing.x = 12.0;
        pinned_ui(ui, at, state, answer);
        match selected {
            // In the place of the figures, so that the map stays where it is under the pointer.
            Some(addr) => selected_ui(ui, answer, addr),
            None if MIN_HEIGHT_FOR_FIGURES_PX <= room_px => figures_ui(ui, answer),
            None => {}
        }
        oddities_ui(ui, timeline, answer);
    });
    if selected.is_none() {
        state.tools_px = tools.response.rect.height();
    }
}

fn order_chooser(ui: &mut egui::Ui, state: &mut State) {
    let name = |order| {
        ORDERS
            .iter()
            .find(|known| known.0 == order)
            .map_or_else(String::new, |known| texts::translated(known.1))
    };
    let order = &mut state.arrangement.order;
    let text = theme::small(name(*order));
    let shown =
        egui::ComboBox::from_id_salt("segment order").selected_text(text).width(112.0).show_ui(ui, |ui| {
            for (value, name) in ORDERS {
                ui.selectable_value(order, value, texts::translated(name));
            }
        });
    shown.response.on_hover_text(tr!("The order of segments"));
}

/// Sums at the cursor.
fn figures_ui(ui: &mut egui::Ui, answer: &MomentMap) {
    let total = &answer.state.total;
    let exact = |bytes: Bytes, meaning: &str| format!("{}\n{meaning}", units::bytes_exact(bytes));
    let reserved = total.reserved_bytes;
    let meaning = tr!(
        "reserved from the driver in {} segment" | "reserved from the driver in {} segments" % total.segments,
        units::count(total.segments as u64)
    );
    figure(ui, None, &tr!("Reserved"), &units::bytes(reserved), &exact(reserved, &meaning));
    let blocks = total.blocks - total.awaiting_blocks;
    let meaning = tr!(
        "asked for and not given back, in {} block" | "asked for and not given back, in {} blocks" % blocks,
        units::count(blocks as u64)
    );
    let allocated = total.allocated_bytes;
    figure(ui, None, &tr!("Allocated"), &units::bytes(allocated), &exact(allocated, &meaning));
    if total.awaiting_blocks != 0 {
        let blocks = total.awaiting_blocks;
        let meaning = tr!(
            "given back, but another stream may still use it, in {} block"
                | "given back, but another stream may still use it, in {} blocks" % blocks,
            units::count(blocks as u64)
        );
        let bytes = total.awaiting_bytes;
        figure(ui, Some(stripe), &tr!("Waiting"), &units::bytes(bytes), &exact(bytes, &meaning));
    }
    let rounding = total.rounding_bytes();
    let hint = exact(rounding, &rounding_meaning(answer));
    figure(ui, Some(pale), &tr!("Rounding"), &units::bytes(rounding), &hint);
    let share = units::percent(total.hole_bytes, reserved);
    let holes = format!("{} ({share})", units::bytes(total.hole_bytes));
    let mut meaning =
        tr!("free in {} hole" | "free in {} holes" % total.holes, units::count(total.holes as u64));
    if let Some(note) = slack_note(answer) {
        meaning = format!("{meaning}\n{note}");
    }
    figure(ui, Some(hatch), &tr!("Free"), &holes, &exact(total.hole_bytes, &meaning));
    let largest = total.largest_hole_bytes;
    figure(
        ui,
        None,
        &tr!("Largest hole"),
        &units::bytes(largest),
        &exact(largest, &tr!("free in one piece, at most")),
    );
    if answer.unused_bytes != 0 {
        let meaning = tr!("free in segments without any block: torch.cuda.empty_cache() gives them back");
        let bytes = answer.unused_bytes;
        figure(ui, None, &tr!("Empty segments"), &units::bytes(bytes), &exact(bytes, &meaning));
    }
}

/// The surface of rounding, beside that of a block.
fn pale(painter: &egui::Painter, mark: Rect, palette: &Palette) {
    let middle = mark.left() + mark.width() * 0.55;
    let block = Rect::from_min_max(mark.min, pos2(middle, mark.bottom()));
    let rounding = Rect::from_min_max(pos2(middle, mark.top()), mark.max);
    painter.rect_filled(block, 0.0, theme::color(palette.unknown));
    painter.rect_filled(rounding, 0.0, theme::color(palette.unknown.mix(palette.window, 0.55)));
}

fn rounding_meaning(answer: &MomentMap) -> String {
    match answer.state.basis {
        Basis::EndState => tr!("taken by blocks beyond what was asked for"),
        Basis::Events | Basis::TraceOnly => {
            tr!(
                "taken by blocks beyond what was asked for, at least: up to 512-byte steps, and all of it for \
             blocks that are still there at the end"
            )
        }
    }
}

fn slack_note(answer: &MomentMap) -> Option<String> {
    match answer.state.basis {
        Basis::EndState => None,
        Basis::Events | Basis::TraceOnly => {
            Some(tr!("Up to 1 MiB after a block of a large pool may belong to it, which no event tells"))
        }
    }
}

/// Paints a sample of a surface of the map.
type Swatch = fn(&egui::Painter, Rect, &Palette);

/// A sample of a surface, a name and a value, which is explained under the pointer.
fn figure(ui: &mut egui::Ui, swatch: Option<Swatch>, name: &str, value: &str, hint: &str) {
    /// Width of the sample, and the space between it and the name, in points.
    const MARK_PX: f32 = 14.0;
    const GAP_PX: f32 = 5.0;
    let palette = theme::palette(ui);
    let mut job = egui::text::LayoutJob::default();
    let format = |color| egui::TextFormat::simple(egui::FontId::proportional(12.0), theme::color(color));
    job.append(name, 0.0, format(palette.muted));
    job.append(value, GAP_PX, format(palette.text));
    let galley = ui.painter().layout_job(job);
    let before = if swatch.is_some() { MARK_PX + GAP_PX } else { 0.0 };
    let size = vec2(galley.size().x + before, 20.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, format!("{name} {value}")));
    if let Some(swatch) = swatch {
        let mark =
            Rect::from_center_size(pos2(rect.left() + MARK_PX / 2.0, rect.center().y), vec2(MARK_PX, 10.0));
        swatch(&ui.painter().with_clip_rect(mark.intersect(ui.clip_rect())), mark, palette);
    }
    let at = pos2(rect.left() + before, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, theme::color(palette.text));
    response.on_hover_text(hint);
}

/// Text that can be clicked, cut rather than broken over lines.
fn link(ui: &mut egui::Ui, text: &str) -> egui::Response {
    let color = ui.visuals().hyperlink_color;
    let font = egui::FontId::proportional(12.0);
    let mut job = egui::text::LayoutJob::simple_singleline(text.to_owned(), font, color);
    job.wrap = egui::text::TextWrapping::truncate_at_width(ui.max_rect().width());
    let galley = ui.painter().layout_job(job);
    let size = vec2(galley.size().x, 20.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Link, true, text));
    let at = pos2(rect.left(), rect.center().y - galley.size().y / 2.0);
    if response.hovered() || response.has_focus() {
        let y = at.y + galley.size().y - 0.5;
        ui.painter().hline(rect.x_range(), y, egui::Stroke::new(1.0, color));
    }
    ui.painter().galley(at, galley, color);
    response.on_hover_cursor(egui::CursorIcon::PointingHand)
}

/// Mostly empty segments; a click goes from one to the next.
fn pinned_ui(ui: &mut egui::Ui, at: &mut Standpoint, state: &mut State, answer: &MomentMap) {
    if answer.pinned.is_empty() {
        return;
    }
    let bytes = answer.pinned.iter().map(|pinned| pinned.hole_bytes).sum::<Bytes>();
    let pinned = answer.pinned.len();
    let text =
        tr!("{} mostly empty segment" | "{} mostly empty segments" % pinned, units::count(pinned as u64));
    let hint = format!(
        "{}\n{}",
        tr!(
            "{} of them are free, but a few blocks keep them from going back to the driver.",
            units::bytes_exact(bytes)
        ),
        tr!("Click to go from one to the next")
    );
    if link(ui, &text).on_hover_text(hint).clicked() {
        let selected = match at.selection() {
            Selection::Segment { addr } => answer.state.row_at(addr),
            _ => None,
        };
        let shown = answer.pinned.iter().position(|pinned| Some(pinned.row) == selected);
        let next = shown.map_or(0, |shown| (shown + 1) % answer.pinned.len());
        let row = &answer.state.rows[answer.pinned[next].row];
        at.select(Selection::Segment { addr: row.addr });
        state.reset_zoom();
    }
}

/// Notes on missing parts and contradictions of the recording.
fn oddities_ui(ui: &mut egui::Ui, timeline: &Timeline, answer: &MomentMap) {
    if let Some(text) = basis_text(&answer.state) {
        ui.label(theme::muted(ui, tr!("Incomplete")).size(12.0)).on_hover_text(text);
    }
    let contradictions = &answer.state.contradictions;
    if contradictions.is_empty() {
        return;
    }
    let mut lines: Vec<String> =
        contradictions.iter().map(|(kind, n)| format!("{} {}", units::count(n), kind.describe())).collect();
    let unexplained = contradictions.unexplained_reserved_bytes;
    if unexplained != 0 {
        lines.push(tr!("{} reserved by the sum of events that no segment has", units::bytes(unexplained)));
    }
    for &id in contradictions.hidden.iter().take(LISTED_HIDDEN) {
        let allocation = timeline.allocation(id);
        let (addr, size) = (units::address(allocation.addr), units::bytes(allocation.size));
        lines.push(tr!("not shown: {size} at {addr}, whose bytes others have", size, addr));
    }
    let n = contradictions.total() + u64::from(unexplained != 0);
    let text = tr!("{} contradiction" | "{} contradictions" % n, units::count(n));
    ui.label(theme::small(text).underline()).on_hover_text(lines.join("\n"));
}

/// The selected segment, in the place of the figures of all.
fn selected_ui(ui: &mut egui::Ui, answer: &MomentMap, addr: u64) {
    let text = match answer.state.row_at(addr) {
        None => tr!("No segment at {} now", units::address(addr)),
        Some(row) => {
            let found = &answer.state.rows[row];
            let size = units::bytes(found.past_end.saturating_sub(found.addr).min(i64::MAX as u64) as i64);
            tr!("{} of {size}: {}", units::address(found.addr), use_text(&found.figures), size)
        }
    };
    ui.add(egui::Label::new(theme::small(text)).truncate());
}

/// The request that failed at the cursor, beside the holes.
pub(crate) fn request_ui(ui: &mut egui::Ui, palette: &Palette, answer: &MomentMap) {
    let Some(fit) = &answer.fit else { return };
    let sentence = fit_text(fit);
    let has_room = MIN_HEIGHT_FOR_REQUEST_PX <= ui.available_height();
    let size = vec2(ui.available_width(), if has_room { REQUEST_PX } else { SENTENCE_PX });
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &sentence));
    let red = theme::color(palette.oom);
    if !has_room {
        let font = egui::FontId::proportional(12.0);
        let mut job = egui::text::LayoutJob::simple_singleline(sentence, font, red);
        job.wrap = egui::text::TextWrapping::truncate_at_width(rect.width());
        let galley = ui.painter().layout_job(job);
        ui.painter().galley(rect.left_center() - vec2(0.0, galley.size().y / 2.0), galley, red);
    } else if !request(ui.painter(), rect, fit, &sentence, palette, ui.pixels_per_point()) {
        ui.label(theme::small(&sentence).color(red));
    }
    let hint = [
        tr!("Requested: {}", units::bytes_exact(fit.requested_bytes)),
        tr!("Largest hole: {}", units::bytes_exact(fit.largest_bytes)),
        tr!(
            "Too small: {size} in {count} hole" | "Too small: {size} in {count} holes" % fit.too_small,
            size = units::bytes_exact(fit.too_small_bytes),
            count = units::count(fit.too_small as u64)
        ),
        tr!("Holes of other pools, streams or size classes: {}", units::bytes_exact(fit.other_bytes)),
        fit.device_free_bytes.map_or_else(
            || tr!("Free on the device: not recorded"),
            |free| tr!("Free on the device: {}", units::bytes_exact(free)),
        ),
    ];
    response.on_hover_text(hint.join("\n"));
}
