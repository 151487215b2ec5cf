//! The flame graph of what was allocated.

use super::shown::{Shown, mean_lifetime, share_text};
use super::toolbar::cut_notes;
use super::weighing::StacksRequest;
use crate::details::facts::code;
use crate::device::{Selection, Standpoint};
use crate::flame::{self, Click, Content, Graph, Sight};
use crate::pointed::Thing;
use crate::texts;
use crate::theme;
use crate::work::memo::Memo;
use eframe::egui;
use oomscope_analysis::{FrameKey, NodeIx, Totals, WeightUnit, site_frame};
#[cfg(test)]
use oomscope_draw::FlameLayout;
use oomscope_draw::{ColorClass, FlameItem, FlameRect};
use oomscope_model::{SaturatingSum as _, StackId};
use oomscope_report::weight_text;
use oomscope_units as units;
use std::rc::Rc;
use tr::tr;

/// The graph's own state, kept between frames.
#[derive(Default)]
pub(crate) struct State {
    sight: Sight<StacksRequest>,
    hovered: Memo<(StacksRequest, NodeIx), SiteText>,
}

/// The totals of the stacks below a node, and the one that weighs most.
#[derive(Debug, Clone)]
struct SiteText {
    totals: Totals,
    heaviest: Option<StackId>,
    /// The weight of each colour, the heaviest first.
    colors: Rc<[(ColorClass, i128)]>,
}

impl State {
    /// The latest layout.
    #[cfg(test)]
    pub(crate) fn layout(&self) -> Option<Rc<FlameLayout>> {
        self.sight.layout()
    }
}

/// Show the graph.
pub(crate) fn ui(
    ui: &mut egui::Ui,
    state: &mut State,
    zoomed: &mut Vec<FrameKey>,
    shown: &Shown<'_>,
    at: &mut Standpoint,
) {
    let weighed = shown.weighed;
    let unit = weighed.totals.unit;
    let graph = Graph {
        tree: &weighed.tree,
        names: &weighed.names.frames,
        weights: &weighed.weights,
        zoom: shown.zoom,
        root_label: shown.summary,
        color: &|node| weighed.colors.get(node),
        figure: &|_, weight| weight_text(unit, weight),
        selected: shown.selected.and_then(|stack| weighed.tree.leaf_of(stack)),
        outlined: &shown.outlined,
        found: shown.found.map(|found| &*found.marks),
    };
    let content = Allocated { shown, graph: &graph, hovered: &state.hovered };
    match flame::ui(ui, &state.sight, weighed.request.clone(), &graph, &content) {
        Some(Click::Select(stack)) => at.select(Selection::Stack(stack)),
        Some(Click::Zoom(node)) => *zoomed = graph.path(node),
        None => {}
    }
}

/// What was allocated with the stacks of the graph.
struct Allocated<'a> {
    shown: &'a Shown<'a>,
    graph: &'a Graph<'a>,
    hovered: &'a Memo<(StacksRequest, NodeIx), SiteText>,
}

impl Allocated<'_> {
    /// The facts about a node, which are summed up when the pointer moves to another.
    fn facts(&self, node: NodeIx) -> SiteText {
        let weighed = self.shown.weighed;
        self.hovered.get((weighed.request.clone(), node), || {
            let (totals, heaviest) = weighed.totals.of_all(|stack| weighed.is_below(node, stack));
            SiteText { totals, heaviest, colors: weighed.classes_below(node).into() }
        })
    }
}

impl Content for Allocated<'_> {
    fn stack(&self, node: NodeIx) -> Option<StackId> {
        self.facts(node).heaviest
    }

    fn thing(&self, node: NodeIx) -> Option<Thing> {
        let frame = self.graph.names.get(self.graph.tree.frame(node)).frame;
        (node != NodeIx::ROOT).then(|| Thing::Frame {
            path: self.graph.path(node).into(),
            frame: frame.map(|frame| site_frame(self.shown.recording.snapshot(), frame)),
            stack: self.facts(node).heaviest,
        })
    }

    fn explain(&self, ui: &mut egui::Ui, under: &FlameRect) {
        match under.item {
            FlameItem::Merged { count, .. } => merged_ui(ui, self.shown, under.weight, count),
            FlameItem::Single(node) => node_ui(ui, self.shown, node, under.weight, &self.facts(node)),
        }
    }

    fn empty(&self, ui: &mut egui::Ui) {
        let is_empty = self.shown.weighed.weights.get(self.shown.zoom.index()).is_none_or(|&all| all <= 0);
        if is_empty { empty_ui(ui, self.shown) } else { no_stacks_ui(ui, self.shown) }
    }
}

fn empty_ui(ui: &mut egui::Ui, shown: &Shown<'_>) {
    let text = match (shown.zoom, shown.weighed.totals.all.count) {
        (NodeIx::ROOT, 0) => shown.summary.to_owned(),
        (NodeIx::ROOT, _) => tr!("All allocations here are empty."),
        _ => tr!("Nothing was allocated below this frame here."),
    };
    ui.label(theme::muted(ui, text));
}

/// The total, and how to record stacks.
fn no_stacks_ui(ui: &mut egui::Ui, shown: &Shown<'_>) {
    let weight = weight_text(shown.weighed.totals.unit, shown.weighed.totals.all.weight);
    ui.label(tr!("{weight} in {}, but no stacks were recorded.", shown.summary, weight));
    let hint = tr!("torch.cuda.memory._record_memory_history(context=\"all\", stacks=\"all\") records them.");
    ui.add(egui::Label::new(theme::muted(ui, hint)).wrap());
}

/// An explanation of a node.
fn node_ui(ui: &mut egui::Ui, shown: &Shown<'_>, node: NodeIx, weight: i128, facts: &SiteText) {
    let weighed = shown.weighed;
    if node == NodeIx::ROOT {
        ui.label(theme::strong(shown.summary, 13.0));
        for note in cut_notes(weighed.tree.cut()) {
            ui.label(note);
        }
    } else {
        let name = weighed.names.frames.get(weighed.tree.frame(node));
        ui.label(theme::strong(weighed.tree.label(&weighed.names.frames, node), 13.0));
        let code = name.frame.and_then(|frame| code(shown.recording.snapshot(), frame));
        code.map(|code| ui.add(egui::Label::new(egui::RichText::new(code).monospace()).wrap()));
    }
    figures_ui(ui, shown, weight, &facts.totals);
    // Colours of stacks have no names.
    if !shown.weighed.coloring.keys(shown.recording).is_empty() {
        ui.label(colors_text(shown, facts));
    }
}

/// What the memory below a node is, by the property that colours show. The first gives the node its colour.
fn colors_text(shown: &Shown<'_>, facts: &SiteText) -> String {
    /// Classes that are named: more make no readable line.
    const MAX_NAMED: usize = 3;
    let coloring = &shown.weighed.coloring;
    let all: i128 = facts.colors.iter().map(|&(_, weight)| weight).saturating_sum();
    let name = |class| coloring.class_label(class, shown.recording);
    match &*facts.colors {
        [] => String::new(),
        [(class, _)] => name(*class),
        colors => {
            let share = |&(class, weight): &(ColorClass, i128)| {
                format!("{} {}", name(class), share_text(weight, all))
            };
            let named: Vec<String> = colors.iter().take(MAX_NAMED).map(share).collect();
            let named = named.join(", ");
            if MAX_NAMED < colors.len() {
                tr!("{}, and others; the colour is that of the largest", named)
            } else {
                tr!("{}; the colour is that of the largest", named)
            }
        }
    }
}

/// An explanation of frames that are merged into one rectangle.
fn merged_ui(ui: &mut egui::Ui, shown: &Shown<'_>, weight: i128, count: u32) {
    let totals = &shown.weighed.totals;
    ui.label(theme::strong(texts::thin_frames(count as usize), 13.0));
    let share = share_text(weight, totals.all.weight);
    ui.label(tr!("{}, {share} of all", weight_text(totals.unit, weight), share));
}

/// The weight of a node, its shares, and the totals of the stacks below it.
fn figures_ui(ui: &mut egui::Ui, shown: &Shown<'_>, weight: i128, totals: &Totals) {
    let weighed = shown.weighed;
    let exact = units::bytes_exact(totals.bytes);
    ui.label(match weighed.totals.unit {
        WeightUnit::Bytes => exact,
        unit => tr!("{} from {exact}", weight_text(unit, weight), exact),
    });
    let of_all = share_text(weight, weighed.totals.all.weight);
    ui.label(if shown.zoom == NodeIx::ROOT {
        tr!("{of_all} of all", of_all)
    } else {
        let all_shown = weighed.weights.get(shown.zoom.index()).copied().unwrap_or(0);
        let of_shown = share_text(weight, all_shown);
        tr!("{of_all} of all, {of_shown} of what is shown", of_all, of_shown)
    });
    let (count, largest) = (units::count(totals.count), units::bytes(totals.largest));
    ui.label(tr!(
        "{count} allocation, the largest {largest}"
            | "{count} allocations, the largest {largest}" % totals.count,
        count,
        largest
    ));
    let mean = mean_lifetime(weighed.names.clock, totals);
    ui.label(if totals.open_ended == 0 {
        tr!("live for {mean} on average", mean)
    } else {
        tr!("live for at least {mean} on average", mean)
    });
}
