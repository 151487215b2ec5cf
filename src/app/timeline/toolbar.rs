//! The tools above the timeline: what it stacks, colours with a legend, and the axis.

use crate::app::device::{PaneCtx, Standpoint, TimelineMode};
use crate::app::theme;
use crate::draw::{Axis, ColorBy, ColorKey, Coloring, Palette, Rgb};
use crate::model::Timeline;
use eframe::egui::{self, Rect, Sense};

pub(super) fn ui(ui: &mut egui::Ui, palette: &Palette, ctx: &mut PaneCtx<'_>) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(8.0, 2.0);
        mode_chooser(ui, ctx.at);
        color_chooser(ui, ctx.at);
        if ctx.recording.times.has_times() {
            axis_chooser(ui, ctx.at);
        }
        ui.add_space(4.0);
        lines_legend(ui, palette, ctx.at.color_by);
        // After the chooser, which may have changed the colours.
        let coloring = ctx.coloring(palette);
        keys_legend(ui, &coloring, ctx.recording, ctx.at);
    });
}

fn mode_chooser(ui: &mut egui::Ui, at: &mut Standpoint) {
    ui.spacing_mut().item_spacing.x = 2.0;
    let modes = [
        (TimelineMode::Blocks, "Blocks", "Live allocations"),
        (TimelineMode::Segments, "Segments", "Reserved memory, in the order of reservation"),
    ];
    for (mode, name, hint) in modes {
        let text = theme::small(name);
        if ui.selectable_label(at.timeline_mode == mode, text).on_hover_text(hint).clicked() {
            at.timeline_mode = mode;
        }
    }
    ui.add_space(6.0);
    ui.spacing_mut().item_spacing.x = 8.0;
}

fn color_chooser(ui: &mut egui::Ui, at: &mut Standpoint) {
    let name = |by: ColorBy| format!("Colour by {}", by.name());
    // A segment serves allocations of many categories, so it has none.
    let is_offered = |by: ColorBy| at.timeline_mode == TimelineMode::Blocks || by != ColorBy::Category;
    let shown = if is_offered(at.color_by) { at.color_by } else { ColorBy::Stack };
    let mut chosen = shown;
    let text = theme::small(name(chosen));
    let chooser = egui::ComboBox::from_id_salt("colour by").selected_text(text).width(128.0);
    let response = chooser.show_ui(ui, |ui| {
        for by in ColorBy::ALL.into_iter().filter(|&by| is_offered(by)) {
            ui.selectable_value(&mut chosen, by, name(by));
        }
    });
    response.response.on_hover_text("What the colours of the bands tell apart");
    if chosen != shown {
        at.color_by = chosen;
    }
}

fn axis_chooser(ui: &mut egui::Ui, at: &mut Standpoint) {
    ui.spacing_mut().item_spacing.x = 2.0;
    for (axis, name, hint) in
        [(Axis::Event, "Events", "Every event is equally wide"), (Axis::Time, "Time", "As long as it took")]
    {
        let text = theme::small(name);
        if ui.selectable_label(at.view.axis == axis, text).on_hover_text(hint).clicked() {
            at.set_axis(axis);
        }
    }
    ui.spacing_mut().item_spacing.x = 8.0;
}

fn lines_legend(ui: &mut egui::Ui, palette: &Palette, color_by: ColorBy) {
    for (color, name) in
        [(palette.allocated, "allocated"), (palette.accent, "active"), (palette.reserved, "reserved")]
    {
        entry(ui, color, Mark::Line, name);
    }
    entry(ui, palette.merged, Mark::Band, "thinner than a pixel");
    if color_by == ColorBy::Stack {
        entry(ui, palette.unknown, Mark::Band, "no stack");
    }
}

/// The meanings of colours. A click on one filters to it.
fn keys_legend(ui: &mut egui::Ui, coloring: &Coloring, timeline: &Timeline, at: &mut Standpoint) {
    let keys = match at.timeline_mode {
        TimelineMode::Blocks => coloring.keys(timeline),
        TimelineMode::Segments => coloring.reserved_keys(timeline),
    };
    for ColorKey { label, color, query } in keys {
        let mark = if query.is_some() { Mark::Button } else { Mark::Band };
        let response = entry(ui, color, mark, &label);
        if let Some(query) = query
            && response.on_hover_text(format!("Click to filter: {query}")).clicked()
        {
            at.toggle_filter(query);
        }
    }
}

/// The sample in an entry of the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// A line.
    Line,
    /// A surface.
    Band,
    /// A surface that can be clicked.
    Button,
}

/// Width of the sample in an entry, and the space between it and the text, in points.
const SAMPLE_PX: f32 = 10.0;
const GAP_PX: f32 = 5.0;

/// Heights of a line, of a surface, and of a whole entry, in points.
const LINE_PX: f32 = 2.0;
const BAND_PX: f32 = 10.0;
const ENTRY_PX: f32 = 18.0;

fn entry(ui: &mut egui::Ui, color: Rgb, mark: Mark, text: &str) -> egui::Response {
    let is_link = mark == Mark::Button;
    let sense = if is_link { Sense::click() } else { Sense::hover() };
    let font = theme::axis_font();
    let muted = theme::color(theme::palette(ui).muted);
    let galley = ui.painter().layout_no_wrap(text.to_owned(), font, muted);
    // One point more than is needed, so that the text is not cut where it is rounded.
    let size = egui::vec2(SAMPLE_PX + GAP_PX + galley.size().x + 1.0, ENTRY_PX);
    let (rect, response) = ui.allocate_exact_size(size, sense);
    response.widget_info(|| {
        let role = if is_link { egui::Role::Button } else { egui::Role::Label };
        egui::WidgetInfo::labeled(role, true, text)
    });
    let height = if mark == Mark::Line { LINE_PX } else { BAND_PX };
    let (left, y) = (rect.left(), rect.center().y);
    let sample = Rect::from_center_size(egui::pos2(left + SAMPLE_PX / 2.0, y), egui::vec2(SAMPLE_PX, height));
    ui.painter().rect_filled(sample, 1.0, theme::color(color));
    let place = egui::pos2(left + SAMPLE_PX + GAP_PX, y - galley.size().y / 2.0);
    let text_color =
        if is_link && response.hovered() { theme::color(theme::palette(ui).text) } else { muted };
    ui.painter().galley_with_override_text_color(place, galley, text_color);
    if is_link { response.on_hover_cursor(egui::CursorIcon::PointingHand) } else { response }
}
