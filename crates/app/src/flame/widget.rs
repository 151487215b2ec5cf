//! The graph on the screen, and what the pointer and keys do to it.

use super::crumbs;
use super::graph::{Click, Content, Graph};
use crate::pointed;
use crate::work::memo::Memo;
use crate::{accessible, theme};
use eframe::egui::{self, Id, Rect, Sense, vec2};
use oomscope_analysis::NodeIx;
use oomscope_draw::{
    FLAME_ROW_PX, FlameItem, FlameLayout, FlameOrder, FlamePaint, FlameRect, FlameView, flame_layout,
};
use std::rc::Rc;
use tr::tr;

/// Rows that are laid out: nobody reads deeper stacks to their end.
const MAX_ROWS: usize = 1_000;

/// Room for the scroll bar, in points.
const SCROLL_BAR_PX: f32 = 8.0;

/// The latest layout, by what it is of.
pub(crate) struct Sight<K> {
    layout: Memo<(K, FlameView), Rc<FlameLayout>>,
}

impl<K> Default for Sight<K> {
    fn default() -> Self {
        Self { layout: Memo::default() }
    }
}

#[cfg(test)]
impl<K: PartialEq> Sight<K> {
    /// The latest layout.
    pub(crate) fn layout(&self) -> Option<Rc<FlameLayout>> {
        self.layout.latest()
    }
}

/// Show the graph, which is laid out anew where `key` changes. Returns the effect of a click.
pub(crate) fn ui<K: PartialEq>(
    ui: &mut egui::Ui,
    sight: &Sight<K>,
    key: K,
    graph: &Graph<'_>,
    content: &dyn Content,
) -> Option<Click> {
    debug_assert!(graph.zoom.index() < graph.tree.len());
    let crumb = (graph.zoom != NodeIx::ROOT).then(|| crumbs::ui(ui, graph)).flatten();
    let width_px = (ui.available_width() - SCROLL_BAR_PX).max(0.0);
    let view = FlameView { zoom: graph.zoom, width_px, max_rows: MAX_ROWS, order: FlameOrder::ByWeight };
    let new = || Rc::new(flame_layout(graph.tree, graph.weights, &view));
    let layout = sight.layout.get((key, view), new);
    let is_nameless = graph.tree.len() == 2 && graph.tree.frame(NodeIx(1)) == graph.names.no_stack();
    if layout.rows() == 0 || is_nameless {
        content.empty(ui);
        return crumb.map(Click::Zoom);
    }
    let area = egui::ScrollArea::vertical().auto_shrink(false);
    // The same with and without the path above it, so that the keyboard stays.
    let id = ui.make_persistent_id("flame graph");
    let clicked = area.show(ui, |ui| graph_ui(ui, id, graph, content, &layout));
    clicked.inner.or(crumb.map(Click::Zoom))
}

/// The graph. Returns the effect of a click on it.
fn graph_ui(
    ui: &mut egui::Ui,
    id: Id,
    graph: &Graph<'_>,
    content: &dyn Content,
    layout: &FlameLayout,
) -> Option<Click> {
    let size = vec2(ui.available_width() - SCROLL_BAR_PX, layout.rows() as f32 * FLAME_ROW_PX);
    let (_, rect) = ui.allocate_space(size);
    let response = ui.interact(rect, id, Sense::click());
    accessible::picture(&response, &tr!("Flame graph"), || graph.words());
    if let Some(click) = keys(ui, &response, graph) {
        return Some(click);
    }
    let under = response.hover_pos().and_then(|at| under(layout, rect, at));
    paint(ui, graph, layout, rect, under);
    let under = under?;
    let click = click(graph, content, under);
    pointed::on(&response, || content.thing(node_of(under)));
    let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
    if response.clicked() && !accessible::is_pressed_by_key(&response) {
        return click;
    }
    response.on_hover_ui_at_pointer(|ui| {
        content.explain(ui, &under);
        if let Some(click) = click {
            ui.label(theme::muted(ui, hint(under, click)));
        }
    });
    None
}

/// The node of a rectangle, or that above its nodes.
fn node_of(under: FlameRect) -> NodeIx {
    match under.item {
        FlameItem::Single(node) => node,
        FlameItem::Merged { parent, .. } => parent,
    }
}

/// Down and Enter go to the heaviest frame below, and Up goes back.
fn keys(ui: &egui::Ui, response: &egui::Response, graph: &Graph<'_>) -> Option<Click> {
    if !response.has_focus() {
        return None;
    }
    let pressed = |key| 0 < ui.input_mut(|input| input.count_and_consume_key(egui::Modifiers::NONE, key));
    if pressed(egui::Key::ArrowUp) {
        return graph.tree.parent(graph.zoom).map(Click::Zoom);
    }
    let goes_down = pressed(egui::Key::ArrowDown) || accessible::is_pressed_by_key(response);
    graph.heaviest_child().filter(|_| goes_down).map(Click::Zoom)
}

fn under(layout: &FlameLayout, rect: Rect, at: egui::Pos2) -> Option<FlameRect> {
    let row = ((at.y - rect.top()) / FLAME_ROW_PX).max(0.0) as usize;
    layout.at(row, at.x - rect.left()).copied()
}

fn paint(ui: &egui::Ui, graph: &Graph<'_>, layout: &FlameLayout, rect: Rect, hovered: Option<FlameRect>) {
    let paint = FlamePaint {
        layout,
        tree: graph.tree,
        names: graph.names,
        color: graph.color,
        palette: theme::palette(ui),
        root_label: graph.root_label,
        figure: graph.figure,
        hovered: hovered.map(|rect| rect.item),
        // The node that fills the width needs no mark.
        selected: graph.selected.filter(|&leaf| leaf != graph.zoom),
        outlined: graph.outlined,
        found: graph.found,
    };
    paint.paint(&ui.painter_at(rect.intersect(ui.clip_rect())), rect.min);
}

/// The effect of a click on a rectangle, if it has one.
fn click(graph: &Graph<'_>, content: &dyn Content, under: FlameRect) -> Option<Click> {
    let (tree, zoom) = (graph.tree, graph.zoom);
    match under.item {
        FlameItem::Merged { parent, .. } if parent == zoom => None,
        FlameItem::Merged { parent, .. } => Some(Click::Zoom(parent)),
        // A leaf: zooming in would show nothing more.
        FlameItem::Single(node) if tree.subtree(node).len() == 1 => content.stack(node).map(Click::Select),
        FlameItem::Single(node) if node == zoom => tree.parent(node).map(Click::Zoom),
        FlameItem::Single(node) => Some(Click::Zoom(node)),
    }
}

/// The effect of a click in words.
fn hint(under: FlameRect, click: Click) -> String {
    match (click, under.node()) {
        (Click::Zoom(_), None) => tr!("Click to zoom in on them"),
        (Click::Zoom(node), Some(under)) if node < under => tr!("Click to zoom out"),
        (Click::Zoom(_), Some(_)) => tr!("Click to zoom in"),
        (Click::Select(_), _) => tr!("Click to select the stack"),
    }
}
