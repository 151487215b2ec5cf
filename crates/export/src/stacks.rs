//! The flame graph of the stacks that allocated, as pixels or as an SVG that browsers can zoom.

use super::kind::ExportError;
use super::spec::{PictureSpec, StacksView};
use oomscope_analysis::{
    CallTree, Clock, FrameKey, FrameNames, Measure, NodeIx, StackTotals, class_weights, stack_totals,
};
use oomscope_draw::picture::{FlamePicture, PictureSheet, Selected, flame_legend};
use oomscope_draw::software::Pixels;
use oomscope_draw::{NodeColors, Rgb};
use oomscope_model::Timeline;
use oomscope_report::{FlameSvg, flame_svg, measure_name, measure_text, weight_text};
use oomscope_units as units;
use std::collections::HashMap;

/// Content of the flame graph, whichever format it is written in.
struct Weighed {
    names: FrameNames,
    tree: CallTree,
    totals: StackTotals,
    weights: Vec<i128>,
    colors: NodeColors,
}

impl Weighed {
    fn new(spec: &PictureSpec, timeline: &Timeline) -> Self {
        let (snapshot, StacksView { measure, options, .. }) = (spec.recording.snapshot(), &spec.stacks);
        let names = FrameNames::new(snapshot);
        let tree = CallTree::build(snapshot, &names, *options);
        let keep = |id| spec.contains(id);
        let totals = stack_totals(&spec.recording, Clock::of(timeline), *measure, keep);
        let weights = tree.inclusive(totals.weights());
        let class = |id| spec.coloring.class_of(timeline, id).0;
        let classes = class_weights(&spec.recording, Clock::of(timeline), *measure, keep, class);
        let colors = NodeColors::new(&tree, &classes, &spec.coloring);
        Self { names, tree, totals, weights, colors }
    }

    fn summary(&self, spec: &PictureSpec, timeline: &Timeline) -> String {
        measure_text(spec.stacks.measure, &self.totals.all, timeline, spec.filter().is_some())
    }

    fn figure(&self, weight: i128) -> String {
        weight_text(self.totals.unit, weight)
    }
}

pub(super) fn paint(spec: &PictureSpec, timeline: &Timeline, sheet: &PictureSheet<'_>) -> Pixels {
    let weighed = Weighed::new(spec, timeline);
    let (summary, figure) = (weighed.summary(spec, timeline), |weight| weighed.figure(weight));
    let tree = &weighed.tree;
    let is_live = spec.stacks.measure == Measure::Live { at: spec.moment };
    let sites = is_live.then(|| spec.sites(timeline)).flatten();
    let stack = match spec.selected {
        Selected::None => None,
        Selected::Allocation(id) => Some(timeline.stack(id)),
        Selected::Stack(stack) => Some(stack),
    };
    let search = spec.stacks.search.trim();
    let found = (!search.is_empty()).then(|| weighed.names.search(search));
    let picture = FlamePicture {
        tree,
        weights: &weighed.weights,
        names: &weighed.names,
        colors: &weighed.colors,
        summary: &summary,
        figure: &figure,
        zoom: tree.find(spec.stacks.zoom.iter().copied()),
        selected: stack.and_then(|stack| tree.leaf_of(stack)),
        outlined: &outlined(spec, timeline, tree),
        found: found.as_deref(),
        sites: sites.as_ref(),
    };
    let mut page = spec.page(timeline, flame_legend(sheet.palette));
    let whole = weighed.weights.get(NodeIx::ROOT.index()).copied().unwrap_or(0);
    page.caption.lines.push(format!("{}: {}", measure_name(spec.stacks.measure), weighed.figure(whole)));
    page.caption.lines.extend(found.as_deref().map(|found| {
        let weight = weighed.figure(tree.weight_of(found, &weighed.weights));
        let search = spec.redacted(units::printable(search));
        format!("Search: {search} · {weight} in {}", frames(found))
    }));
    picture.paint(sheet, &page)
}

/// The nodes at which the stacks of marked memory end.
fn outlined(spec: &PictureSpec, timeline: &Timeline, tree: &CallTree) -> Vec<NodeIx> {
    let marked = spec.mark().into_iter().flat_map(|mark| mark.allocations.iter());
    let mut nodes: Vec<NodeIx> = marked.filter_map(|id| tree.leaf_of(timeline.stack(id))).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

fn frames(found: &[bool]) -> String {
    units::counted(found.iter().filter(|&&found| found).count(), "frame")
}

/// The node with most weight of each frame: in an SVG, all nodes of a frame have one colour.
fn heaviest_nodes(tree: &CallTree, weights: &[i128]) -> HashMap<FrameKey, NodeIx> {
    let mut heaviest: HashMap<FrameKey, NodeIx> = HashMap::new();
    for node in (1..tree.len() as u32).map(NodeIx) {
        let best = heaviest.entry(tree.frame(node)).or_insert(node);
        if weights[best.index()] < weights[node.index()] {
            *best = node;
        }
    }
    heaviest
}

/// The flame graph as an SVG file. It holds the whole tree, as browsers zoom themselves.
pub(super) fn svg(spec: &PictureSpec, timeline: &Timeline) -> Result<Vec<u8>, ExportError> {
    let weighed = Weighed::new(spec, timeline);
    let summary = weighed.summary(spec, timeline);
    let headline = spec.headline(timeline);
    let name = units::printable(units::basename(&spec.name));
    let mut subtitle = format!("{name} · {} · {headline} · {summary}", timeline.device);
    if let Some(filter) = spec.filter_text(timeline) {
        subtitle = format!("{subtitle} · {filter}");
    }
    let heaviest = heaviest_nodes(&weighed.tree, &weighed.weights);
    let color = |key: FrameKey| {
        let Rgb(r, g, b) = weighed.colors.below_black(heaviest.get(&key).copied().unwrap_or(NodeIx::ROOT));
        [r, g, b]
    };
    let flame = FlameSvg {
        tree: &weighed.tree,
        names: &weighed.names,
        weights: &weighed.weights,
        unit: weighed.totals.unit,
        title: measure_name(spec.stacks.measure),
        subtitle: &subtitle,
        color: &color,
    };
    let mut file = Vec::new();
    flame_svg(&mut file, &flame)?;
    Ok(file)
}
