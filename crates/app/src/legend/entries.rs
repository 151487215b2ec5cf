//! The lines of the timeline with their values at the cursor.

use crate::theme;
use eframe::egui::{self, Rect, Sense, pos2, vec2};
use oomscope_draw::{Palette, Rgb};
use oomscope_model::{Moment, Timeline};
use oomscope_units as units;
use tr::tr;

/// Width of the sample of a line, and the space between it and the text, in points.
const SAMPLE_PX: f32 = 12.0;
const GAP_PX: f32 = 5.0;

/// Height of the sample, and of a whole entry, in points.
const LINE_PX: f32 = 2.0;
const ENTRY_PX: f32 = 18.0;

/// Show the totals.
pub(super) fn ui(ui: &mut egui::Ui, palette: &Palette, timeline: &Timeline, cursor: Moment) {
    let lines = [
        (
            palette.reserved,
            tr!("reserved"),
            timeline.reserved_at(cursor),
            tr!("Held by PyTorch, in use or not"),
        ),
        (palette.accent, tr!("active"), timeline.active_at(cursor), tr!("In use, or waiting for a stream")),
        (palette.allocated, tr!("allocated"), timeline.allocated_at(cursor), tr!("In use by the program")),
    ];
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(12.0, 0.0);
        for (color, name, bytes, meaning) in lines {
            let hint = format!("{meaning}\n{}", bytes.written(units::bytes_exact));
            entry_ui(ui, color, &name, &bytes.written(units::bytes)).on_hover_text(hint);
        }
    });
}

fn entry_ui(ui: &mut egui::Ui, color: Rgb, name: &str, value: &str) -> egui::Response {
    let palette = theme::palette(ui);
    let (text, muted) = (theme::color(palette.text), theme::color(palette.muted));
    let put = |words: &str, color| ui.painter().layout_no_wrap(words.to_owned(), theme::axis_font(), color);
    let (name_galley, value_galley) = (put(name, muted), put(value, text));
    let name_px = name_galley.size().x;
    // One point more than is needed, so that the text is not cut where it is rounded.
    let width = SAMPLE_PX + GAP_PX + name_px + GAP_PX + value_galley.size().x + 1.0;
    let (rect, response) = ui.allocate_exact_size(vec2(width, ENTRY_PX), Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, format!("{name} {value}")));
    let (left, y) = (rect.left(), rect.center().y);
    let line = Rect::from_center_size(pos2(left + SAMPLE_PX / 2.0, y), vec2(SAMPLE_PX, LINE_PX));
    ui.painter().rect_filled(line, 0.0, theme::color(color));
    let x = left + SAMPLE_PX + GAP_PX;
    ui.painter().galley(pos2(x, y - name_galley.size().y / 2.0), name_galley, muted);
    let x = x + name_px + GAP_PX;
    ui.painter().galley(pos2(x, y - value_galley.size().y / 2.0), value_galley, text);
    response
}
