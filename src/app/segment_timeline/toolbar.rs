//! Above the segment timeline: the order of rows, and what surfaces mean.

use crate::analysis::{RowOrder, SegmentRows};
use crate::app::device::DeviceState;
use crate::app::theme;
use crate::draw::Palette;
use crate::units;
use eframe::egui::{self, Rect, Sense, Stroke, pos2, vec2};

const ORDERS: [(RowOrder, &str); 3] = [
    (RowOrder::Reserved, "Largest first"),
    (RowOrder::Address, "By address"),
    (RowOrder::Active, "Most in use first"),
];

pub(in crate::app) fn ui(ui: &mut egui::Ui, palette: &Palette, device: &mut DeviceState, rows: &SegmentRows) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(8.0, 2.0);
        order_chooser(ui, device);
        let state = &mut device.panels.segment_timeline;
        let expand = egui::RichText::new("Expand all").size(12.0);
        if ui
            .selectable_label(state.is_all_expanded, expand)
            .on_hover_text("Show every row to scale")
            .clicked()
        {
            state.is_all_expanded = !state.is_all_expanded;
            state.expanded.clear();
        }
        ui.add_space(4.0);
        swatch(ui, "reserved, not in use", |painter, mark| hatch(painter, mark, palette));
        swatch(ui, "waiting for a stream", |painter, mark| stripe(painter, mark, palette));
        ui.label(theme::muted(ui, counts(rows)).size(11.0));
    });
}

fn order_chooser(ui: &mut egui::Ui, device: &mut DeviceState) {
    let state = &mut device.panels.segment_timeline;
    let name = |order| ORDERS.iter().find(|known| known.0 == order).map_or("", |known| known.1);
    let text = egui::RichText::new(name(state.order)).size(12.0);
    let chooser = egui::ComboBox::from_id_salt("row order").selected_text(text).width(128.0);
    let shown = chooser.show_ui(ui, |ui| {
        for (order, name) in ORDERS {
            ui.selectable_value(&mut state.order, order, name);
        }
    });
    shown.response.on_hover_text("The order of segments");
}

fn counts(rows: &SegmentRows) -> String {
    let count = rows.rows().len();
    let rows_text = units::counted(count, "row");
    match rows.outside() {
        0 => rows_text,
        1 => format!("{rows_text} · 1 allocation lies in no known segment"),
        outside => {
            format!("{rows_text} · {} allocations lie in no known segment", units::count(outside as u64))
        }
    }
}

pub(in crate::app) fn swatch(ui: &mut egui::Ui, text: &str, paint: impl FnOnce(&egui::Painter, Rect)) {
    let muted = theme::color(theme::palette(ui).muted);
    let galley = ui.painter().layout_no_wrap(text.to_owned(), theme::axis_font(), muted);
    let (rect, response) = ui.allocate_exact_size(vec2(19.0 + galley.size().x, 18.0), Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, text));
    let mark = Rect::from_center_size(pos2(rect.left() + 7.0, rect.center().y), vec2(14.0, 10.0));
    paint(&ui.painter().with_clip_rect(mark.intersect(ui.clip_rect())), mark);
    ui.painter().galley(pos2(rect.left() + 18.0, rect.center().y - galley.size().y / 2.0), galley, muted);
}

pub(in crate::app) fn hatch(painter: &egui::Painter, mark: Rect, palette: &Palette) {
    painter.rect_filled(mark, 0.0, theme::color(palette.window.mix(palette.line, 0.35)));
    let stroke = Stroke::new(1.0, theme::faded(palette.muted, 0.6));
    for i in 0..6 {
        let x = mark.left() + i as f32 * 5.0 - 4.0;
        painter.line_segment([pos2(x, mark.top()), pos2(x - mark.height(), mark.bottom())], stroke);
    }
}

pub(in crate::app) fn stripe(painter: &egui::Painter, mark: Rect, palette: &Palette) {
    let color = palette.accent;
    painter.rect_filled(mark, 0.0, theme::color(color.mix(palette.window, 0.65)));
    for i in 0..4 {
        let y = mark.top() + 0.5 + i as f32 * 3.0;
        painter.hline(mark.x_range(), y, Stroke::new(1.0, theme::color(color.mix(palette.window, 0.15))));
    }
}
