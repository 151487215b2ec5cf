//! The table of allocation sites beside the flame graph.

use super::device::DeviceState;
use super::navigation::Selection;
use super::stacks_panel::{Shown, share_text, weight_text};
use super::stacks_toolbar::plural;
use super::stacks_work::Wish;
use super::theme;
use crate::analysis::{Clock, FrameNames, SiteRow, Totals, WeightUnit};
use crate::units;
use eframe::egui::{self, Align, Layout, Rect, Sense, Stroke, pos2, vec2};
use egui_extras::{Column as Width, TableBuilder};
use std::cmp::Reverse;

const ROW_PX: f32 = 22.0;

/// What rows are ordered by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Column {
    #[default]
    Weight,
    Count,
    Largest,
    Lifetime,
    Site,
}

/// Columns, their width in pixels, and what they mean.
const COLUMNS: [(Column, f32, &str); 5] = [
    (Column::Weight, 76.0, "What was allocated there, as the flame graph weighs it"),
    (Column::Count, 48.0, "How many allocations that is"),
    (Column::Largest, 66.0, "The largest of them"),
    (
        Column::Lifetime,
        84.0,
        "How long they are live on average; at least that where some outlive the recording",
    ),
    (Column::Site, 0.0, "The innermost line of your own code"),
];

/// What is remembered between frames.
#[derive(Default)]
pub(super) struct State {
    column: Column,
    /// Whether the order is the other way round.
    is_reversed: bool,
    rows: Option<(Wish, Column, bool, Vec<SiteRow>)>,
}

pub(super) fn ui(ui: &mut egui::Ui, state: &mut State, shown: &Shown<'_>, device: &mut DeviceState) {
    ui.style_mut().interaction.selectable_labels = false;
    ui.spacing_mut().item_spacing = vec2(8.0, 0.0);
    let mut table = TableBuilder::new(ui)
        .id_salt("allocation sites")
        .sense(Sense::click())
        .auto_shrink(false)
        .cell_layout(Layout::right_to_left(Align::Center));
    for (column, width_px, _) in COLUMNS {
        let width = if column == Column::Site { Width::remainder() } else { Width::exact(width_px) };
        table = table.column(width.clip(true));
    }
    let unit = shown.weighed.totals.unit;
    let table = table.header(ROW_PX, |mut header| {
        for (column, _, hint) in COLUMNS {
            header.col(|ui| header_ui(ui, state, column, unit, hint));
        }
    });
    let rows = state.rows(shown);
    let site_of = |stack| shown.book.sites.site(stack);
    let selected = shown.selected.map(site_of);
    let mut clicked = None;
    table.body(|body| {
        body.rows(ROW_PX, rows.len(), |mut row| {
            let site = &rows[row.index()];
            row.set_selected(selected == Some(site.site));
            for (column, ..) in COLUMNS {
                row.col(|ui| cell_ui(ui, shown, site, column));
            }
            let response = row.response();
            let label = &shown.book.names.get(site.site).label;
            response.widget_info(|| {
                let weight = weight_text(unit, site.totals.weight);
                egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Site {label}, {weight}"))
            });
            let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
            if response.on_hover_ui(|ui| tooltip_ui(ui, shown, site)).clicked() {
                clicked = Some(site.stack);
            }
        });
    });
    if let Some(stack) = clicked {
        device.select(Selection::Stack(stack));
    }
}

impl State {
    /// The rows in order; sorted when they or the order change.
    fn rows(&mut self, shown: &Shown<'_>) -> &[SiteRow] {
        let (wish, column, is_reversed) = (shown.weighed.wish, self.column, self.is_reversed);
        let known =
            self.rows.take().filter(|known| (known.0, known.1, known.2) == (wish, column, is_reversed));
        let (.., rows) = self.rows.insert(known.unwrap_or_else(|| {
            let mut rows = shown.weighed.sites.clone();
            sort(&mut rows, column, &shown.book.names);
            if is_reversed {
                rows.reverse();
            }
            (wish, column, is_reversed, rows)
        }));
        rows
    }
}

/// Largest first, sites by name; equal rows by weight.
fn sort(rows: &mut [SiteRow], column: Column, names: &FrameNames) {
    rows.sort_by_key(|row| (Reverse(row.totals.weight), row.site));
    match column {
        Column::Weight => {}
        Column::Count => rows.sort_by_key(|row| Reverse(row.totals.count)),
        Column::Largest => rows.sort_by_key(|row| Reverse(row.totals.largest)),
        Column::Lifetime => rows.sort_by_key(|row| Reverse(row.totals.mean_lifetime())),
        Column::Site => rows.sort_by(|a, b| names.get(a.site).label.cmp(&names.get(b.site).label)),
    }
}

fn title(column: Column, unit: WeightUnit) -> &'static str {
    match (column, unit) {
        (Column::Weight, WeightUnit::Bytes) => "Bytes",
        (Column::Weight, WeightUnit::ByteMicros) => "Bytes × time",
        (Column::Weight, WeightUnit::ByteEvents) => "Bytes × events",
        (Column::Count, _) => "Count",
        (Column::Largest, _) => "Largest",
        (Column::Lifetime, _) => "Mean life",
        (Column::Site, _) => "Site",
    }
}

fn header_ui(ui: &mut egui::Ui, state: &mut State, column: Column, unit: WeightUnit, hint: &str) {
    let title = title(column, unit);
    let is_sorted = state.column == column;
    let palette = theme::palette(ui);
    let layout = if column == Column::Site {
        Layout::left_to_right(Align::Center)
    } else {
        Layout::right_to_left(Align::Center)
    };
    ui.with_layout(layout, |ui| {
        let color = theme::color(if is_sorted { palette.text } else { palette.muted });
        let text = egui::RichText::new(title).size(12.0).color(color);
        let response = ui.add(egui::Label::new(text).sense(Sense::click()));
        response
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Sort by {title}")));
        if is_sorted {
            let (mark, _) = ui.allocate_exact_size(vec2(7.0, 7.0), Sense::hover());
            // Figures are largest first, names in the order of the alphabet, unless reversed.
            arrow(ui, mark, (column == Column::Site) == state.is_reversed, color);
        }
        let response = response.on_hover_cursor(egui::CursorIcon::PointingHand).on_hover_text(hint);
        if response.clicked() {
            state.is_reversed = is_sorted && !state.is_reversed;
            state.column = column;
        }
    });
}

fn arrow(ui: &egui::Ui, at: Rect, is_down: bool, color: egui::Color32) {
    let (tip, base) = if is_down { (at.bottom(), at.top() + 2.0) } else { (at.top(), at.bottom() - 2.0) };
    let points = vec![pos2(at.left(), base), pos2(at.right(), base), pos2(at.center().x, tip)];
    ui.painter().add(egui::Shape::convex_polygon(points, color, Stroke::NONE));
}

fn cell_ui(ui: &mut egui::Ui, shown: &Shown<'_>, row: &SiteRow, column: Column) {
    let Totals { weight, count, largest, .. } = row.totals;
    let weighed = shown.weighed;
    let text = match column {
        Column::Weight => {
            share_bar(ui, weight, weighed.sites.first().map_or(0, |most| most.totals.weight));
            weight_text(weighed.totals.unit, weight)
        }
        Column::Count => units::count(count),
        Column::Largest => units::bytes(largest),
        Column::Lifetime => lifetime_text(shown.book.clock, &row.totals),
        Column::Site => {
            let name = shown.book.names.get(row.site);
            let is_left_out = shown.found.is_some_and(|found| !found.is_found[row.site.index()]);
            let text = egui::RichText::new(name.label.as_str()).size(12.0);
            let text = if name.is_internal || is_left_out { text.weak() } else { text };
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(egui::Label::new(text).truncate());
            });
            return;
        }
    };
    ui.add(egui::Label::new(egui::RichText::new(text).size(12.0)).extend());
}

/// How much it is compared with the largest, behind the figure.
fn share_bar(ui: &egui::Ui, weight: i128, most: i128) {
    if weight <= 0 || most <= 0 {
        return;
    }
    let cell = ui.max_rect().shrink2(vec2(0.0, 3.0));
    let width = cell.width() * (weight as f64 / most as f64).clamp(0.0, 1.0) as f32;
    let bar = Rect::from_min_max(pos2(cell.right() - width, cell.top()), cell.max);
    ui.painter().rect_filled(bar.expand2(vec2(3.0, 0.0)), 2.0, theme::faded(theme::palette(ui).accent, 0.16));
}

fn tooltip_ui(ui: &mut egui::Ui, shown: &Shown<'_>, row: &SiteRow) {
    let weighed = shown.weighed;
    ui.label(theme::strong(shown.book.names.get(row.site).label.as_str(), 13.0));
    ui.label(units::bytes_exact(row.totals.bytes));
    let stacks = plural(row.stacks as u64, "stack", "stacks");
    ui.label(format!("{} of all, from {stacks}", share_text(row.totals.weight, weighed.totals.all.weight)));
    ui.label(theme::muted(ui, "Click to select the stack with most of it"));
}

/// A mean lifetime as text; `≥` where some allocations outlive the recording.
fn lifetime_text(clock: Clock, totals: &Totals) -> String {
    let mean = mean_lifetime(clock, totals);
    if totals.open_ended == 0 { mean } else { format!("≥ {mean}") }
}

/// A mean lifetime as text, as far as the recording shows.
pub(super) fn mean_lifetime(clock: Clock, totals: &Totals) -> String {
    let mean = totals.mean_lifetime();
    if clock.has_times() {
        units::duration_us(mean)
    } else {
        plural(mean.max(0).unsigned_abs(), "event", "events")
    }
}
