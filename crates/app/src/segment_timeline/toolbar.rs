//! The tools above the segment timeline: the order of rows, and a legend of surfaces.

use super::state::State;
use crate::swatches::{hatch, stripe, swatch};
use crate::texts::{self, marked};
use crate::theme;
use eframe::egui::{self, vec2};
use oomscope_analysis::{RowOrder, SegmentRows};
use oomscope_draw::Palette;
use oomscope_units as units;
use tr::tr;

const ORDERS: [(RowOrder, &str); 3] = [
    (RowOrder::Reserved, marked!("Largest first")),
    (RowOrder::Address, marked!("By address")),
    (RowOrder::Active, marked!("Most in use first")),
];

pub(crate) fn ui(ui: &mut egui::Ui, palette: &Palette, state: &mut State, rows: &SegmentRows) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(8.0, 2.0);
        order_chooser(ui, state);
        let expand = theme::small(tr!("Expand all"));
        if ui
            .selectable_label(state.is_all_expanded, expand)
            .on_hover_text(tr!("Show every row to scale"))
            .clicked()
        {
            state.is_all_expanded = !state.is_all_expanded;
            state.expanded.clear();
        }
        ui.add_space(4.0);
        swatch(ui, &tr!("reserved, not in use"), |painter, mark| hatch(painter, mark, palette));
        swatch(ui, &tr!("waiting for a stream"), |painter, mark| stripe(painter, mark, palette));
        ui.label(theme::muted(ui, counts(rows)).size(11.0));
    });
}

fn order_chooser(ui: &mut egui::Ui, state: &mut State) {
    let name = |order| {
        ORDERS
            .iter()
            .find(|known| known.0 == order)
            .map_or_else(String::new, |known| texts::translated(known.1))
    };
    let text = theme::small(name(state.order));
    let chooser = egui::ComboBox::from_id_salt("row order").selected_text(text).width(128.0);
    let shown = chooser.show_ui(ui, |ui| {
        for (order, name) in ORDERS {
            ui.selectable_value(&mut state.order, order, texts::translated(name));
        }
    });
    shown.response.on_hover_text(tr!("The order of segments"));
}

fn counts(rows: &SegmentRows) -> String {
    let count = rows.rows().len();
    let rows_text = tr!("{} row" | "{} rows" % count, units::count(count as u64));
    match rows.outside() {
        0 => rows_text,
        outside => {
            let outside = tr!(
                "{} allocation lies in no known segment" | "{} allocations lie in no known segment" % outside,
                units::count(outside as u64)
            );
            format!("{rows_text} · {outside}")
        }
    }
}
