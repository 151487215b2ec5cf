//! The path to the frame that fills the width.

use super::graph::Graph;
use crate::theme;
use eframe::egui;
use oomscope_analysis::NodeIx;
use oomscope_units as units;
use tr::tr;

/// Frames at the end of the path that are named: they fit into a line.
const MAX_CRUMBS: usize = 3;

/// Largest width of a name in the path, in points; longer ones are cut.
const CRUMB_PX: f32 = 190.0;

/// Show the path. Returns the frame of it that was clicked.
pub(super) fn ui(ui: &mut egui::Ui, graph: &Graph<'_>) -> Option<NodeIx> {
    let tree = graph.tree;
    let path = tree.path(graph.zoom);
    let mut clicked = None;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        if ui.button(theme::small(tr!("Reset zoom"))).clicked() {
            clicked = Some(NodeIx::ROOT);
        }
        let first = path.len().saturating_sub(MAX_CRUMBS).max(1);
        if 1 < first {
            let before = first - 1;
            let text = tr!("… {} frame" | "… {} frames" % before, units::count(before as u64));
            ui.label(theme::muted(ui, text).size(12.0));
        }
        for &node in &path[first..] {
            if node != path[1] {
                ui.label(theme::muted(ui, "/").size(12.0));
            }
            ui.scope(|ui| {
                ui.set_max_width(CRUMB_PX.min(ui.available_width()));
                let name = graph.names.get(tree.frame(node));
                let text = theme::small(name.label.as_str());
                let crumb = egui::Button::new(text).frame(false).truncate();
                if ui.add(crumb).on_hover_text(tr!("Zoom out to this frame")).clicked() {
                    clicked = Some(node);
                }
            });
        }
    });
    clicked
}
