//! The flame graph: zoom, hover and click.

use super::shown::{Shown, mean_lifetime, share_text};
use super::toolbar::cut_notes;
use super::weighing::StacksRequest;
use crate::analysis::{FrameKey, NodeIx, Totals, WeightUnit, site_frame};
use crate::app::accessible;
use crate::app::device::{Selection, Standpoint};
use crate::app::pointed::{self, Thing};
use crate::app::theme;
use crate::app::work::memo::Memo;
use crate::draw::{
    ColorClass, FLAME_ROW_PX, FlameItem, FlameLayout, FlameOrder, FlamePaint, FlameRect, FlameView,
    flame_layout,
};
use crate::model::StackId;
use crate::report::weight_text;
use crate::units;
use eframe::egui::{self, Id, Rect, Sense, vec2};
use std::rc::Rc;

/// Rows that are laid out: nobody reads deeper stacks to their end.
const MAX_ROWS: usize = 1_000;

/// Room for the scroll bar, in points.
const SCROLL_BAR_PX: f32 = 8.0;

/// Frames at the end of the path that are named: they fit into a line.
const MAX_CRUMBS: usize = 3;

/// Largest width of a name in the path, in points; longer ones are cut.
const CRUMB_PX: f32 = 190.0;

/// The graph's own state, kept between frames.
#[derive(Default)]
pub(in crate::app) struct State {
    layout: Memo<(StacksRequest, FlameView), Rc<FlameLayout>>,
    hovered: Memo<(StacksRequest, NodeIx), Facts>,
}

/// The totals of the stacks below a node, and the one that weighs most.
#[derive(Debug, Clone)]
struct Facts {
    totals: Totals,
    heaviest: Option<StackId>,
    /// The weight of each colour, the heaviest first.
    colors: Rc<[(ColorClass, i128)]>,
}

impl State {
    /// The latest layout.
    #[cfg(test)]
    pub(in crate::app) fn layout(&self) -> Option<Rc<FlameLayout>> {
        self.layout.latest()
    }
}

/// The effect of a click on a node.
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
    let tree = &shown.weighed.tree;
    debug_assert!(shown.zoom.index() < tree.len());
    let crumb = (shown.zoom != NodeIx::ROOT).then(|| crumbs_ui(ui, shown)).flatten();
    let mut next = crumb.map(Click::Zoom);
    let view = view(ui, shown.zoom);
    let new = || Rc::new(flame_layout(tree, &shown.weighed.weights, &view));
    let layout = state.layout.get((shown.weighed.request.clone(), view), new);
    if layout.rows() == 0 {
        empty_ui(ui, shown);
    } else if tree.len() == 2 && tree.frame(NodeIx(1)) == shown.weighed.names.frames.no_stack() {
        no_stacks_ui(ui, shown);
    } else {
        let area = egui::ScrollArea::vertical().auto_shrink(false);
        // The same with and without the path above it, so that the keyboard stays.
        let id = ui.make_persistent_id("flame graph");
        let clicked = area.show(ui, |ui| graph_ui(ui, id, state, shown, &layout));
        next = clicked.inner.or(next);
    }
    match next {
        Some(Click::Select(stack)) => at.select(Selection::Stack(stack)),
        Some(Click::Zoom(node)) => {
            *zoomed = path(shown, node);
        }
        None => {}
    }
}

/// The frames from the root to a node.
fn path(shown: &Shown<'_>, node: NodeIx) -> Vec<FrameKey> {
    let tree = &shown.weighed.tree;
    tree.path(node).iter().skip(1).map(|&node| tree.frame(node)).collect()
}

/// What the menu of a node is about; nothing at the root.
fn thing(shown: &Shown<'_>, node: NodeIx, facts: &Facts) -> Option<Thing> {
    let weighed = shown.weighed;
    let frame = weighed.names.frames.get(weighed.tree.frame(node)).frame;
    (node != NodeIx::ROOT).then(|| Thing::Frame {
        path: path(shown, node).into(),
        frame: frame.map(|frame| site_frame(shown.snapshot, frame)),
        stack: facts.heaviest,
    })
}

fn view(ui: &egui::Ui, zoom: NodeIx) -> FlameView {
    let width_px = (ui.available_width() - SCROLL_BAR_PX).max(0.0);
    FlameView { zoom, width_px, max_rows: MAX_ROWS, order: FlameOrder::ByWeight }
}

fn empty_ui(ui: &mut egui::Ui, shown: &Shown<'_>) {
    let text = match (shown.zoom, shown.weighed.totals.all.count) {
        (NodeIx::ROOT, 0) => shown.summary,
        (NodeIx::ROOT, _) => "All allocations here are empty.",
        _ => "Nothing was allocated below this frame here.",
    };
    ui.label(theme::muted(ui, text));
}

/// The total, and how to record stacks.
fn no_stacks_ui(ui: &mut egui::Ui, shown: &Shown<'_>) {
    let weight = weight_text(shown.weighed.totals.unit, shown.weighed.totals.all.weight);
    ui.label(format!("{weight} in {}, but no stacks were recorded.", shown.summary));
    let hint = "torch.cuda.memory._record_memory_history(context=\"all\", stacks=\"all\") records them.";
    ui.add(egui::Label::new(theme::muted(ui, hint)).wrap());
}

/// The path to the frame that fills the width. Returns the frame of it that was clicked.
fn crumbs_ui(ui: &mut egui::Ui, shown: &Shown<'_>) -> Option<NodeIx> {
    let tree = &shown.weighed.tree;
    let path = tree.path(shown.zoom);
    let mut clicked = None;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        if ui.button(theme::small("Reset zoom")).clicked() {
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
                let text = theme::small(name.label.as_str());
                let crumb = egui::Button::new(text).frame(false).truncate();
                if ui.add(crumb).on_hover_text("Zoom out to this frame").clicked() {
                    clicked = Some(node);
                }
            });
        }
    });
    clicked
}

/// The graph. Returns the effect of a click on it.
fn graph_ui(
    ui: &mut egui::Ui,
    id: Id,
    state: &mut State,
    shown: &Shown<'_>,
    layout: &FlameLayout,
) -> Option<Click> {
    let size = vec2(ui.available_width() - SCROLL_BAR_PX, layout.rows() as f32 * FLAME_ROW_PX);
    let (_, rect) = ui.allocate_space(size);
    let response = ui.interact(rect, id, Sense::click());
    accessible::picture(&response, "Flame graph", || words(shown));
    if let Some(click) = keys(ui, &response, shown) {
        return Some(click);
    }
    let hovered = response.hover_pos().and_then(|at| under(layout, rect, at));
    paint(ui, shown, layout, rect, hovered);
    let under = hovered?;
    let node = match under.item {
        FlameItem::Single(node) => node,
        FlameItem::Merged { parent, .. } => parent,
    };
    let facts = facts(state, shown, node);
    let click = click(shown, under, &facts);
    pointed::on(&response, || thing(shown, node, &facts));
    let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
    if response.clicked() && !accessible::is_pressed_by_key(&response) {
        return click;
    }
    response.on_hover_ui_at_pointer(|ui| tooltip_ui(ui, shown, under, &facts, click));
    None
}

/// The frame that fills the width, and the heaviest below it, in words.
fn words(shown: &Shown<'_>) -> String {
    let weighed = shown.weighed;
    let text = |node: NodeIx| {
        let name = &weighed.names.frames.get(weighed.tree.frame(node)).label;
        format!("{name} {}", weight_text(weighed.totals.unit, weighed.weights[node.index()]))
    };
    let whole = if shown.zoom == NodeIx::ROOT { shown.summary.to_owned() } else { text(shown.zoom) };
    match heaviest_child(shown) {
        Some(child) => format!("{whole} · most in {}", text(child)),
        None => whole,
    }
}

fn heaviest_child(shown: &Shown<'_>) -> Option<NodeIx> {
    let weights = &shown.weighed.weights;
    shown.weighed.tree.children(shown.zoom).max_by_key(|child| weights.get(child.index()).copied())
}

/// Down and Enter go to the heaviest frame below, and Up goes back.
fn keys(ui: &egui::Ui, response: &egui::Response, shown: &Shown<'_>) -> Option<Click> {
    if !response.has_focus() {
        return None;
    }
    let pressed = |key| 0 < ui.input_mut(|input| input.count_and_consume_key(egui::Modifiers::NONE, key));
    if pressed(egui::Key::ArrowUp) {
        return shown.weighed.tree.parent(shown.zoom).map(Click::Zoom);
    }
    let goes_down = pressed(egui::Key::ArrowDown) || accessible::is_pressed_by_key(response);
    heaviest_child(shown).filter(|_| goes_down).map(Click::Zoom)
}

fn under(layout: &FlameLayout, rect: Rect, at: egui::Pos2) -> Option<FlameRect> {
    let row = ((at.y - rect.top()) / FLAME_ROW_PX).max(0.0) as usize;
    layout.at(row, at.x - rect.left()).copied()
}

fn paint(ui: &egui::Ui, shown: &Shown<'_>, layout: &FlameLayout, rect: Rect, hovered: Option<FlameRect>) {
    let weighed = shown.weighed;
    let unit = weighed.totals.unit;
    // The node that fills the width needs no mark.
    let selected = shown.selected.and_then(|stack| weighed.tree.leaf_of(stack));
    let paint = FlamePaint {
        layout,
        tree: &weighed.tree,
        names: &shown.weighed.names.frames,
        colors: &shown.weighed.colors,
        palette: theme::palette(ui),
        root_label: shown.summary,
        figure: &|weight| weight_text(unit, weight),
        hovered: hovered.map(|rect| rect.item),
        selected: selected.filter(|&leaf| leaf != shown.zoom),
        outlined: &shown.outlined,
        found: shown.found.map(|found| &*found.marks),
    };
    paint.paint(&ui.painter_at(rect.intersect(ui.clip_rect())), rect.min);
}

/// The facts about a node, which are summed up when the pointer moves to another.
fn facts(state: &State, shown: &Shown<'_>, node: NodeIx) -> Facts {
    let weighed = shown.weighed;
    state.hovered.get((weighed.request.clone(), node), || {
        let (totals, heaviest) = weighed.totals.of_all(|stack| weighed.is_below(node, stack));
        Facts { totals, heaviest, colors: weighed.classes_below(node).into() }
    })
}

/// The effect of a click on a rectangle, if it has one.
fn click(shown: &Shown<'_>, under: FlameRect, facts: &Facts) -> Option<Click> {
    let (tree, zoom) = (&shown.weighed.tree, shown.zoom);
    match under.item {
        FlameItem::Merged { parent, .. } if parent == zoom => None,
        FlameItem::Merged { parent, .. } => Some(Click::Zoom(parent)),
        // A leaf: zooming in would show nothing more.
        FlameItem::Single(node) if tree.subtree(node).len() == 1 => facts.heaviest.map(Click::Select),
        FlameItem::Single(node) if node == zoom => tree.parent(node).map(Click::Zoom),
        FlameItem::Single(node) => Some(Click::Zoom(node)),
    }
}

/// An explanation of the rectangle under the pointer.
fn tooltip_ui(ui: &mut egui::Ui, shown: &Shown<'_>, under: FlameRect, facts: &Facts, click: Option<Click>) {
    if let FlameItem::Merged { count, .. } = under.item {
        merged_ui(ui, shown, under.weight, count, click.is_some());
        return;
    }
    let weighed = shown.weighed;
    if let Some(node) = under.node().filter(|&node| node != NodeIx::ROOT) {
        let name = weighed.names.frames.get(weighed.tree.frame(node));
        ui.label(theme::strong(name.label.as_str(), 13.0));
    } else {
        ui.label(theme::strong(shown.summary, 13.0));
        for note in cut_notes(weighed.tree.cut()) {
            ui.label(note);
        }
    }
    figures_ui(ui, shown, under.weight, &facts.totals);
    // Colours of stacks have no names.
    if !shown.weighed.coloring.keys(shown.timeline).is_empty() {
        ui.label(colors_text(shown, facts));
    }
    let hint = match click {
        Some(Click::Zoom(node)) if node < under.node().unwrap_or(NodeIx::ROOT) => "Click to zoom out",
        Some(Click::Zoom(_)) => "Click to zoom in",
        Some(Click::Select(_)) => "Click to select the stack",
        None => return,
    };
    ui.label(theme::muted(ui, hint));
}

/// What the memory below a node is, by the property that colours show. The first gives the node its colour.
fn colors_text(shown: &Shown<'_>, facts: &Facts) -> String {
    /// Classes that are named: more make no readable line.
    const MAX_NAMED: usize = 3;
    let coloring = &shown.weighed.coloring;
    let all: i128 = facts.colors.iter().fold(0, |sum, &(_, weight)| sum.saturating_add(weight));
    let name = |class| coloring.class_label(class, shown.timeline);
    match &*facts.colors {
        [] => String::new(),
        [(class, _)] => name(*class),
        colors => {
            let share = |&(class, weight): &(ColorClass, i128)| {
                format!("{} {}", name(class), share_text(weight, all))
            };
            let named: Vec<String> = colors.iter().take(MAX_NAMED).map(share).collect();
            let rest = if MAX_NAMED < colors.len() { ", and others" } else { "" };
            format!("{}{rest}; the colour is that of the largest", named.join(", "))
        }
    }
}

/// An explanation of frames that are merged into one rectangle.
fn merged_ui(ui: &mut egui::Ui, shown: &Shown<'_>, weight: i128, count: u32, is_clickable: bool) {
    let totals = &shown.weighed.totals;
    let frames = units::counted(count as usize, "frame");
    ui.label(theme::strong(format!("{frames} thinner than a pixel"), 13.0));
    let share = share_text(weight, totals.all.weight);
    ui.label(format!("{}, {share} of all", weight_text(totals.unit, weight)));
    if is_clickable {
        ui.label(theme::muted(ui, "Click to zoom in on them"));
    }
}

/// The weight of a node, its shares, and the totals of the stacks below it.
fn figures_ui(ui: &mut egui::Ui, shown: &Shown<'_>, weight: i128, totals: &Totals) {
    let weighed = shown.weighed;
    let exact = units::bytes_exact(totals.bytes);
    ui.label(match weighed.totals.unit {
        WeightUnit::Bytes => exact,
        unit => format!("{} from {exact}", weight_text(unit, weight)),
    });
    let of_all = share_text(weight, weighed.totals.all.weight);
    let of_shown = if shown.zoom == NodeIx::ROOT {
        String::new()
    } else {
        let all_shown = weighed.weights.get(shown.zoom.index()).copied().unwrap_or(0);
        format!(", {} of what is shown", share_text(weight, all_shown))
    };
    ui.label(format!("{of_all} of all{of_shown}"));
    let allocations = units::counted(totals.count as usize, "allocation");
    ui.label(format!("{allocations}, the largest {}", units::bytes(totals.largest)));
    let is_least = if totals.open_ended == 0 { "" } else { "at least " };
    let mean = mean_lifetime(weighed.names.clock, totals);
    ui.label(format!("live for {is_least}{mean} on average"));
}
