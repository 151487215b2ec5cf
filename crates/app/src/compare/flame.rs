//! The flame graph of a comparison: a frame is as wide as the larger sides of its stacks, and its colour is the change.

use crate::device::{PaneCtx, Selection};
use crate::flame::{self, Click, Content, Graph, Sight};
use crate::pointed::Thing;
use crate::texts;
use crate::theme;
use crate::work::by_ptr::ByPtr;
use eframe::egui::{self, Color32, Mesh, Rect, Role, Sense, Shape, WidgetInfo, pos2, vec2};
use oomscope_analysis::comparison::StackChanges;
use oomscope_analysis::{FrameKey, NodeIx, site_frame};
use oomscope_draw::{FlameItem, FlameRect, Palette};
use oomscope_model::{Bytes, Snapshot, StackId};
use oomscope_units as units;
use std::sync::Arc;
use tr::tr;

/// Size of the bar with the colours, in points.
const BAR_PX: egui::Vec2 = vec2(84.0, 10.0);

/// Space between the bar and the words at its ends, in points.
const GAP_PX: f32 = 5.0;

/// Steps of the bar from one end to the other: its colours change evenly between.
const BAR_STEPS: usize = 8;

/// The graph's own state, kept between frames.
#[derive(Default)]
pub(crate) struct State {
    sight: Sight<ByPtr<StackChanges>>,
    /// The frames from the root to the one that fills the width.
    zoom: Vec<FrameKey>,
}

impl State {
    /// The latest layout.
    #[cfg(test)]
    pub(crate) fn layout(&self) -> Option<std::rc::Rc<oomscope_draw::FlameLayout>> {
        self.sight.layout()
    }
}

/// Show the graph.
pub(super) fn ui(ui: &mut egui::Ui, state: &mut State, changes: &Arc<StackChanges>, ctx: &mut PaneCtx<'_>) {
    let palette = theme::palette(ui);
    let [a, b] = changes.bytes_of(NodeIx::ROOT).map(|bytes| units::bytes(Bytes::clamped(bytes)));
    let root_label = tr!("All stacks: {a} in A, {b} in B", a, b);
    let graph = Graph {
        tree: &changes.tree,
        names: &changes.names,
        weights: &changes.larger,
        zoom: changes.tree.find(state.zoom.iter().copied()),
        root_label: &root_label,
        color: &|node| palette.change(changes.part(node)),
        figure: &|node, _| change_text(changes.bytes_of(node)),
        selected: ctx.at.selected_stack().and_then(|stack| changes.node_of(stack)),
        outlined: &[],
        found: None,
    };
    let content = Changes { of: changes, graph: &graph, snapshot: ctx.recording.snapshot() };
    match flame::ui(ui, &state.sight, ByPtr(Arc::clone(changes)), &graph, &content) {
        Some(Click::Select(stack)) => ctx.at.select(Selection::Stack(stack)),
        Some(Click::Zoom(node)) => state.zoom = graph.path(node),
        None => {}
    }
}

/// The colours and their meaning, which stay together where lines break.
pub(super) fn legend_ui(ui: &mut egui::Ui) {
    let palette = theme::palette(ui);
    let muted = theme::color(palette.muted);
    let galley = |text: &str| ui.painter().layout_no_wrap(text.to_owned(), theme::axis_font(), muted);
    let ends = [galley(&tr!("only in A")), galley(&tr!("only in B"))];
    let width = BAR_PX.x + ends.iter().map(|end| end.size().x + GAP_PX).sum::<f32>();
    let (rect, response) = ui.allocate_exact_size(vec2(width, ui.spacing().interact_size.y), Sense::hover());
    response
        .widget_info(|| WidgetInfo::labeled(Role::Label, true, tr!("Colours from only in A to only in B")));
    let [a, b] = ends;
    let y = |end: &egui::Galley| rect.center().y - end.size().y / 2.0;
    let mark = Rect::from_min_size(
        pos2(rect.left() + a.size().x + GAP_PX, rect.center().y - BAR_PX.y / 2.0),
        BAR_PX,
    );
    ui.painter().add(bar(mark, palette));
    let places = [pos2(rect.left(), y(&a)), pos2(mark.right() + GAP_PX, y(&b))];
    for (place, end) in places.into_iter().zip([a, b]) {
        ui.painter().galley(place, end, muted);
    }
    response.on_hover_text(
        tr!("The change as a part of the width, which is that of the side that has more of each stack. Grey is as before"),
    );
}

/// All colours, from what is gone to what is new.
fn bar(rect: Rect, palette: &Palette) -> Shape {
    let mut mesh = Mesh::default();
    for (step, at) in (0..=BAR_STEPS).zip(0u32..) {
        let share = step as f32 / BAR_STEPS as f32;
        let color = Color32::from(palette.change(2.0 * share - 1.0));
        let x = rect.left() + share * rect.width();
        for y in [rect.top(), rect.bottom()] {
            mesh.colored_vertex(pos2(x, y), color);
        }
        if 0 < at {
            let first = 2 * (at - 1);
            mesh.add_triangle(first, first + 1, first + 2);
            mesh.add_triangle(first + 1, first + 2, first + 3);
        }
    }
    Shape::mesh(mesh)
}

fn change_text([a, b]: [i128; 2]) -> String {
    units::bytes_change(b.saturating_sub(a))
}

/// The live memory of both sides.
struct Changes<'a> {
    of: &'a StackChanges,
    graph: &'a Graph<'a>,
    /// That of the second side.
    snapshot: &'a Snapshot,
}

impl Content for Changes<'_> {
    fn stack(&self, node: NodeIx) -> Option<StackId> {
        self.of.heaviest(node)
    }

    fn thing(&self, node: NodeIx) -> Option<Thing> {
        // Menus are about the second side, and zooming is done by a click.
        let stack = self.of.heaviest(node);
        let frame = self.of.names.get(self.of.tree.frame(node)).frame;
        match frame.map(|frame| site_frame(self.snapshot, frame)) {
            _ if node == NodeIx::ROOT => None,
            Some(frame) => Some(Thing::Line { frame, stack }),
            None => stack.map(Thing::Stack),
        }
    }

    fn explain(&self, ui: &mut egui::Ui, under: &FlameRect) {
        match under.item {
            FlameItem::Merged { count, .. } => {
                ui.label(theme::strong(texts::thin_frames(count as usize), 13.0));
                let larger = units::bytes(Bytes::clamped(under.weight));
                ui.label(tr!("{larger} on the larger side of each stack", larger));
            }
            FlameItem::Single(node) => self.explain_node(ui, node),
        }
    }

    fn empty(&self, ui: &mut egui::Ui) {
        let bytes = self.of.bytes_of(NodeIx::ROOT);
        let text = match bytes.map(|bytes| units::bytes(Bytes::clamped(bytes))) {
            _ if bytes == [0; 2] => tr!("Nothing is live on either side."),
            [a, b] => tr!("{a} in A and {b} in B, but no stacks were recorded.", a, b),
        };
        ui.add(egui::Label::new(theme::muted(ui, text)).wrap());
    }
}

impl Changes<'_> {
    fn explain_node(&self, ui: &mut egui::Ui, node: NodeIx) {
        let name = self.of.names.get(self.of.tree.frame(node));
        let title = if node == NodeIx::ROOT { self.graph.root_label } else { &name.label };
        ui.label(theme::strong(title, 13.0));
        let bytes = self.of.bytes_of(node);
        for (side, bytes) in ["A", "B"].into_iter().zip(bytes) {
            ui.label(format!("{side}: {}", units::bytes_exact(Bytes::clamped(bytes))));
        }
        ui.label(tr!("Change: {}", change_text(bytes)));
    }
}
