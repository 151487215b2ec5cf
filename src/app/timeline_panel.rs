//! The stacked timeline: picture, axes, marks, hover and click.

use super::device::DeviceState;
use super::rasters::Wish;
use super::theme;
use super::timeline_input::{self, Under};
use crate::analysis::site_label;
use crate::draw::{Canvas, Labels, Palette, Pixel};
use crate::model::AllocId;
use crate::units;
use eframe::egui::{self, Rect, Sense, Stroke};

/// Room for the labels of the axes.
const LEFT_PX: f32 = 68.0;
const BOTTOM_PX: f32 = 22.0;

pub(super) fn ui(ui: &mut egui::Ui, device: &mut DeviceState) {
    let palette = theme::palette(ui);
    legend_ui(ui, palette, !device.timeline().ooms.is_empty());
    let all = ui.available_rect_before_wrap();
    let max = egui::pos2(all.right(), all.bottom() - BOTTOM_PX);
    let rect = Rect::from_min_max(egui::pos2(all.left() + LEFT_PX, all.top()), max);
    if rect.width() < 16.0 || rect.height() < 16.0 {
        return;
    }
    let response = ui.allocate_rect(rect, Sense::click_and_drag());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Allocation timeline"));
    timeline_input::navigate(ui, &response, device);
    let wish = wish(ui, rect, device, palette);
    device.rasters.update(ui.ctx(), wish);
    let under = response.hover_pos().and_then(|pointer| under(device, rect, pointer));
    if let Some(under) = under.filter(|_| response.clicked()) {
        timeline_input::click(device, under);
    }
    paint(ui, device, rect, palette, under);
    if let Some(Under { pixel: Pixel::Block(id), .. }) = under.filter(|_| !response.dragged()) {
        let text = hover_text(device, id);
        response.on_hover_ui_at_pointer(|ui| {
            ui.label(theme::strong(text[0].as_str(), 13.0));
            ui.label(text[1].as_str());
            ui.label(theme::muted(ui, text[2].as_str()));
        });
    } else if under.is_some_and(|under| under.pixel == Pixel::Merged) {
        response.on_hover_text_at_pointer(
            "Blocks thinner than a pixel. Zoom in to see them, with Shift vertically.",
        );
    }
}

fn under(device: &mut DeviceState, rect: Rect, pointer: egui::Pos2) -> Option<Under> {
    let view = device.view;
    device.rasters.shown().map(|shown| timeline_input::under(shown, rect, &view, pointer))
}

fn wish(ui: &egui::Ui, rect: Rect, device: &mut DeviceState, palette: &Palette) -> Wish {
    let largest = ui.input(|input| input.max_texture_side);
    let px = |points: f32| ((points * ui.pixels_per_point()).round() as usize).clamp(1, largest);
    Wish {
        view: device.view,
        size_px: [px(rect.width()), px(rect.height())],
        is_dark: palette.is_dark,
        mode: device.mode,
        coloring: device.coloring(palette),
    }
}

fn paint(ui: &egui::Ui, device: &mut DeviceState, rect: Rect, palette: &Palette, under: Option<Under>) {
    let snapshot = device.snapshot();
    let Some(timeline) = snapshot.timelines.get(device.index()) else { return };
    let view = device.view;
    let canvas = Canvas { painter: ui.painter(), rect, view: &view, timeline, palette };
    let (selected, cursor, peak) = (device.selected(), device.cursor, device.figures.peak);
    canvas.grid();
    if let Some(shown) = device.rasters.shown() {
        canvas.picture(&shown.picture, shown.texture.id());
        let hovered = match under {
            Some(Under { pixel: Pixel::Block(id), .. }) => Some(id),
            _ => None,
        };
        for (id, is_selected) in [(hovered, false), (selected, true)] {
            if let Some(id) = id {
                let spans = shown.outline(id).to_vec();
                canvas.outline(&shown.picture, &spans, is_selected);
            }
        }
        let totals = &shown.picture.totals;
        let reserved = Stroke::new(1.5, theme::color(palette.reserved));
        canvas.total(&shown.picture, &totals.reserved, reserved);
        let allocated = Stroke::new(1.0, theme::faded(palette.allocated, 0.55));
        canvas.total(&shown.picture, &totals.allocated, allocated);
    }
    canvas.frame();
    let mut labels = Labels::default();
    canvas.ooms(&mut labels);
    if !timeline.events.is_empty() {
        canvas.peak(peak, &mut labels);
    }
    canvas.cursor(cursor);
}

/// Size, site, lifetime.
fn hover_text(device: &DeviceState, id: AllocId) -> [String; 3] {
    let timeline = device.timeline();
    let allocation = timeline.lifetimes.get(id, &timeline.events);
    [
        units::bytes_exact(allocation.size),
        site_label(&device.snapshot(), allocation.stack),
        format!("lives {}", device.figures.lifetime(timeline, &allocation)),
    ]
}

fn legend_ui(ui: &mut egui::Ui, palette: &Palette, has_oom: bool) {
    ui.horizontal(|ui| {
        ui.add_space(LEFT_PX);
        let mut entry = |color, is_line: bool, text: &str| {
            let (rect, _) = ui.allocate_exact_size(egui::vec2(12.0, 14.0), Sense::hover());
            let height = if is_line { 2.0 } else { 10.0 };
            let mark = Rect::from_center_size(rect.center(), egui::vec2(12.0, height));
            ui.painter().rect_filled(mark, 1.0, theme::color(color));
            ui.label(theme::muted(ui, text).size(11.0));
        };
        entry(palette.allocated, true, "allocated");
        entry(palette.reserved, true, "reserved");
        entry(palette.merged, false, "thinner than a pixel");
        entry(palette.unknown, false, "no stack");
        entry(palette.peak, true, "peak");
        if has_oom {
            entry(palette.oom, true, "out of memory");
        }
    });
}
