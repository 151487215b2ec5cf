//! The flame graph: zoom, hover and click.

use super::shown::{Shown, mean_lifetime, share_text};
use super::toolbar::cut_notes;
use super::weighing::StacksRequest;
use crate::analysis::{FrameKey, NodeIx, Totals, stack_lines};
use crate::app::device::{Selection, Standpoint};
use crate::app::theme;
use crate::app::work::memo::Memo;
use crate::draw::{
    FLAME_ROW_PX, FlameItem, FlameLayout, FlameOrder, FlamePaint, FlameRect, FlameView, flame_layout,
};
use crate::model::StackId;
use crate::report::weight_text;
use crate::units;
use eframe::egui::{self, Rect, Sense, vec2};
use std::rc::Rc;

/// Deeper stacks end where there is nothing more to read.
const MAX_ROWS: usize = 1_000;

/// Room for the scroll bar.
const SCROLL_BAR_PX: f32 = 8.0;

/// Frames of the path that are always named.
const MAX_CRUMBS: usize = 3;
const CRUMB_PX: f32 = 190.0;

/// What is remembered between frames.
#[derive(Default)]
pub(in crate::app) struct State {
    layout: Memo<(StacksRequest, FlameView), Rc<FlameLayout>>,
    hovered: Memo<(StacksRequest, NodeIx), Facts>,
    /// What the context menu is about.
    menu: Option<NodeIx>,
}

/// What is below a node.
#[derive(Debug, Clone, Copy)]
struct Facts {
    totals: Totals,
    heaviest: Option<StackId>,
}

impl State {
    /// Where everything is.
    #[cfg(test)]
    pub(in crate::app) fn layout(&self) -> Option<Rc<FlameLayout>> {
        self.layout.latest()
    }
}

/// What a click on a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Click {
    Zoom(NodeIx),
    Select(StackId),
}

pub(in crate::app) fn ui(
    ui: &mut egui::Ui,
    state: &mut State,
    zoomed: &mut Vec<FrameKey>,
    shown: &Shown<'_>,
    at: &mut Standpoint,
) {
    let (tree, zoom) = (&shown.weighed.tree, shown.zoom);
    let mut next = (zoom != NodeIx::ROOT).then(|| crumbs_ui(ui, shown, zoom)).flatten().map(Click::Zoom);
    let view = view(ui, zoom);
    let new = || Rc::new(flame_layout(tree, &shown.weighed.weights, &view));
    let layout = state.layout.get((shown.weighed.request.clone(), view), new);
    if layout.rows() == 0 {
        empty_ui(ui, shown, zoom);
    } else if tree.len() == 2 && tree.frame(NodeIx(1)) == shown.weighed.names.frames.no_stack() {
        no_stacks_ui(ui, shown);
    } else {
        let area = egui::ScrollArea::vertical().auto_shrink(false);
        let clicked = area.show(ui, |ui| graph_ui(ui, state, shown, (zoom, &layout)));
        next = clicked.inner.or(next);
    }
    match next {
        Some(Click::Select(stack)) => at.select(Selection::Stack(stack)),
        Some(Click::Zoom(node)) => {
            *zoomed = tree.path(node)[1..].iter().map(|&node| tree.frame(node)).collect();
        }
        None => {}
    }
}

fn view(ui: &egui::Ui, zoom: NodeIx) -> FlameView {
    let width_px = (ui.available_width() - SCROLL_BAR_PX).max(0.0);
    FlameView { zoom, width_px, max_rows: MAX_ROWS, order: FlameOrder::ByWeight }
}

fn empty_ui(ui: &mut egui::Ui, shown: &Shown<'_>, zoom: NodeIx) {
    let text = match (zoom, shown.weighed.totals.all.count) {
        (NodeIx::ROOT, 0) => shown.summary,
        (NodeIx::ROOT, _) => "All allocations here are empty.",
        _ => "Nothing was allocated below this frame here.",
    };
    ui.label(theme::muted(ui, text));
}

/// What to do so that there are stacks.
fn no_stacks_ui(ui: &mut egui::Ui, shown: &Shown<'_>) {
    let weight = weight_text(shown.weighed.totals.unit, shown.weighed.totals.all.weight);
    ui.label(format!("{weight} in {}, but no stacks were recorded.", shown.summary));
    let hint = "torch.cuda.memory._record_memory_history(context=\"all\", stacks=\"all\") records them.";
    ui.add(egui::Label::new(theme::muted(ui, hint)).wrap());
}

/// The frames above what is shown; the one that was clicked.
fn crumbs_ui(ui: &mut egui::Ui, shown: &Shown<'_>, zoom: NodeIx) -> Option<NodeIx> {
    let tree = &shown.weighed.tree;
    let path = tree.path(zoom);
    let mut clicked = None;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        if ui.button(egui::RichText::new("Reset zoom").size(12.0)).clicked() {
            clicked = Some(NodeIx::ROOT);
        }
        let first = path.len().saturating_sub(MAX_CRUMBS).max(1);
        if 1 < first {
            ui.label(theme::muted(ui, format!("… {} frames", units::count((first - 1) as u64))).size(12.0));
        }
        for &node in &path[first..] {
            if node != path[1] {
                ui.label(theme::muted(ui, "/").size(12.0));
            }
            ui.scope(|ui| {
                ui.set_max_width(CRUMB_PX.min(ui.available_width()));
                let name = shown.weighed.names.frames.get(tree.frame(node));
                let text = egui::RichText::new(name.label.as_str()).size(12.0);
                let crumb = egui::Button::new(text).frame(false).truncate();
                if ui.add(crumb).on_hover_text("Zoom out to this frame").clicked() {
                    clicked = Some(node);
                }
            });
        }
    });
    clicked
}

/// The graph; what was clicked.
fn graph_ui(
    ui: &mut egui::Ui,
    state: &mut State,
    shown: &Shown<'_>,
    (zoom, layout): (NodeIx, &FlameLayout),
) -> Option<Click> {
    let size = vec2(ui.available_width() - SCROLL_BAR_PX, layout.rows() as f32 * FLAME_ROW_PX);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Flame graph"));
    let hovered = response.hover_pos().and_then(|at| under(layout, rect, at));
    paint(ui, shown, (zoom, layout), rect, hovered);
    let Some(under) = hovered else {
        return menu_ui(&response, state, shown);
    };
    let node = match under.item {
        FlameItem::Single(node) => node,
        FlameItem::Merged { parent, .. } => parent,
    };
    let facts = facts(state, shown, node);
    let click = click(shown, zoom, under, &facts);
    if response.secondary_clicked() {
        state.menu = Some(node);
    }
    let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
    if response.clicked() {
        return click;
    }
    if let Some(click) = menu_ui(&response, state, shown) {
        return Some(click);
    }
    response.on_hover_ui_at_pointer(|ui| tooltip_ui(ui, shown, zoom, under, &facts, click));
    None
}

fn under(layout: &FlameLayout, rect: Rect, at: egui::Pos2) -> Option<FlameRect> {
    let row = ((at.y - rect.top()) / FLAME_ROW_PX).max(0.0) as usize;
    layout.at(row, at.x - rect.left()).copied()
}

fn paint(
    ui: &egui::Ui,
    shown: &Shown<'_>,
    (zoom, layout): (NodeIx, &FlameLayout),
    rect: Rect,
    hovered: Option<FlameRect>,
) {
    let weighed = shown.weighed;
    let unit = weighed.totals.unit;
    let paint = FlamePaint {
        layout,
        tree: &weighed.tree,
        names: &shown.weighed.names.frames,
        colors: shown.colors,
        palette: theme::palette(ui),
        root_label: shown.summary,
        figure: &|weight| weight_text(unit, weight),
        hovered: hovered.map(|rect| rect.item),
        selected: shown.selected.and_then(|stack| weighed.tree.leaf_of(stack)).filter(|&leaf| leaf != zoom),
        found: shown.found.map(|found| found.marks.as_slice()),
    };
    paint.paint(&ui.painter_at(rect.intersect(ui.clip_rect())), rect.min);
}

/// What is below a node; looked up when the pointer moves to another.
fn facts(state: &State, shown: &Shown<'_>, node: NodeIx) -> Facts {
    let weighed = shown.weighed;
    state.hovered.get((weighed.request.clone(), node), || {
        let (totals, heaviest) = weighed.totals.of_all(|stack| weighed.is_below(node, stack));
        Facts { totals, heaviest }
    })
}

fn click(shown: &Shown<'_>, zoom: NodeIx, under: FlameRect, facts: &Facts) -> Option<Click> {
    let tree = &shown.weighed.tree;
    match under.item {
        FlameItem::Merged { parent, .. } if parent == zoom => None,
        FlameItem::Merged { parent, .. } => Some(Click::Zoom(parent)),
        // There is nothing below it to look at.
        FlameItem::Single(node) if tree.subtree(node).len() == 1 => facts.heaviest.map(Click::Select),
        FlameItem::Single(node) if node == zoom => tree.parent(node).map(Click::Zoom),
        FlameItem::Single(node) => Some(Click::Zoom(node)),
    }
}

fn tooltip_ui(
    ui: &mut egui::Ui,
    shown: &Shown<'_>,
    zoom: NodeIx,
    under: FlameRect,
    facts: &Facts,
    click: Option<Click>,
) {
    let weighed = shown.weighed;
    let unit = weighed.totals.unit;
    let share = share_text(under.weight, weighed.totals.all.weight);
    if let FlameItem::Merged { count, .. } = under.item {
        let frames = units::counted(count as usize, "frame");
        ui.label(theme::strong(format!("{frames} thinner than a pixel"), 13.0));
        ui.label(format!("{}, {share} of all", weight_text(unit, under.weight)));
        if click.is_some() {
            ui.label(theme::muted(ui, "Click to zoom in on them"));
        }
        return;
    }
    if let Some(node) = under.node().filter(|&node| node != NodeIx::ROOT) {
        let name = shown.weighed.names.frames.get(weighed.tree.frame(node));
        ui.label(theme::strong(name.label.as_str(), 13.0));
    } else {
        ui.label(theme::strong(shown.summary, 13.0));
        for note in cut_notes(weighed.tree.cut()) {
            ui.label(note);
        }
    }
    let Totals { bytes, count, largest, .. } = facts.totals;
    let exact = units::bytes_exact(bytes);
    let figure = match unit {
        crate::analysis::WeightUnit::Bytes => exact,
        _ => format!("{} from {exact}", weight_text(unit, under.weight)),
    };
    ui.label(figure);
    let of_shown = weighed.weights.get(zoom.index()).copied().unwrap_or(0);
    let of_shown = if zoom == NodeIx::ROOT {
        String::new()
    } else {
        format!(", {} of what is shown", share_text(under.weight, of_shown))
    };
    ui.label(format!("{share} of all{of_shown}"));
    let allocations = units::counted(count as usize, "allocation");
    ui.label(format!("{allocations}, the largest {}", units::bytes(largest)));
    let is_least = if facts.totals.open_ended == 0 { "" } else { "at least " };
    let mean = mean_lifetime(shown.weighed.names.clock, &facts.totals);
    ui.label(format!("live for {is_least}{mean} on average"));
    let hint = match click {
        Some(Click::Zoom(node)) if node < under.node().unwrap_or(NodeIx::ROOT) => "Click to zoom out",
        Some(Click::Zoom(_)) => "Click to zoom in",
        Some(Click::Select(_)) => "Click to select the stack",
        None => return,
    };
    ui.label(theme::muted(ui, hint));
}

/// What else can be done with a node.
fn menu_ui(response: &egui::Response, state: &mut State, shown: &Shown<'_>) -> Option<Click> {
    let node = state.menu?;
    let facts = facts(state, shown, node);
    let mut chosen = None;
    response.context_menu(|ui| {
        if ui.button("Zoom in on this frame").clicked() {
            chosen = Some(Click::Zoom(node));
        }
        if let Some(stack) = facts.heaviest {
            if ui.button("Select the stack with most below it").clicked() {
                chosen = Some(Click::Select(stack));
            }
            if ui.button("Copy that stack").clicked() {
                ui.copy_text(stack_lines(shown.snapshot, stack).collect::<Vec<_>>().join("\n"));
                ui.close();
            }
        }
        if chosen.is_some() {
            ui.close();
        }
    });
    chosen
}
