//! Where memory was allocated, as a flame graph: pixels, or an SVG that browsers can zoom.

use super::{ExportError, Shot};
use crate::analysis::{
    CallTree, Clock, FrameKey, FrameNames, Measure, NodeIx, StackTotals, TreeOptions, stack_totals,
};
use crate::draw::picture::{FlamePicture, Selected, Sheet, flame_legend};
use crate::draw::software::Pixels;
use crate::draw::{FrameColors, Rgb};
use crate::model::Timeline;
use crate::report::{self, FlameSvg, flame_svg, measure_name, measure_text, weight_text};
use crate::units;

/// What is weighed, and how stacks are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StacksView {
    /// What stacks weigh.
    pub measure: Measure,
    /// How they become a tree.
    pub options: TreeOptions,
    /// The frames from below the root to what fills the whole width.
    pub zoom: Vec<FrameKey>,
    /// What is highlighted, if not empty.
    pub search: String,
}

/// Everything that both kinds of pictures show.
struct Weighed {
    names: FrameNames,
    tree: CallTree,
    totals: StackTotals,
    weights: Vec<i128>,
    colors: FrameColors,
}

impl Weighed {
    fn new(shot: &Shot, timeline: &Timeline) -> Self {
        let (snapshot, StacksView { measure, options, .. }) = (&*shot.snapshot, &shot.stacks);
        let names = FrameNames::new(snapshot);
        let tree = CallTree::build(snapshot, &names, *options);
        let keep = |id| shot.contains(id);
        let totals = stack_totals(snapshot, timeline, Clock::of(timeline), *measure, keep);
        let weights = tree.inclusive(totals.weights());
        let colors = FrameColors::new(snapshot, &names, shot.palette);
        Self { names, tree, totals, weights, colors }
    }

    fn summary(&self, shot: &Shot, timeline: &Timeline) -> String {
        measure_text(shot.stacks.measure, &self.totals.all, timeline, shot.filter().is_some())
    }

    fn figure(&self, weight: i128) -> String {
        weight_text(self.totals.unit, weight)
    }
}

pub(super) fn paint(shot: &Shot, timeline: &Timeline, sheet: &Sheet<'_>) -> Pixels {
    let weighed = Weighed::new(shot, timeline);
    let (summary, figure) = (weighed.summary(shot, timeline), |weight| weighed.figure(weight));
    let tree = &weighed.tree;
    let is_live = shot.stacks.measure == Measure::Live { at: shot.moment };
    let sites = is_live.then(|| shot.sites(timeline));
    let events = &timeline.events;
    let stack = match shot.selected {
        Selected::None => None,
        Selected::Allocation(id) => Some(timeline.lifetimes.stack(id, events)),
        Selected::Stack(stack) => Some(stack),
    };
    let search = shot.stacks.search.trim();
    let found = (!search.is_empty()).then(|| weighed.names.search(search));
    let picture = FlamePicture {
        tree,
        weights: &weighed.weights,
        names: &weighed.names,
        colors: &weighed.colors,
        summary: &summary,
        figure: &figure,
        zoom: tree.find(shot.stacks.zoom.iter().copied()),
        selected: stack.and_then(|stack| tree.leaf_of(stack)),
        found: found.as_deref(),
        sites: sites.as_ref(),
    };
    let mut page = shot.page(timeline, flame_legend(sheet.palette));
    let whole = weighed.weights.get(NodeIx::ROOT.index()).copied().unwrap_or(0);
    page.caption.lines.push(format!("{}: {}", measure_name(shot.stacks.measure), weighed.figure(whole)));
    page.caption.lines.extend(found.as_deref().map(|found| {
        let weight = weighed.figure(tree.weight_of(found, &weighed.weights));
        format!("Search: {} · {weight} in {}", units::printable(search), frames(found))
    }));
    picture.paint(sheet, &page)
}

fn frames(found: &[bool]) -> String {
    units::counted(found.iter().filter(|&&found| found).count(), "frame")
}

/// The same as an SVG file; all of it, wherever the picture is zoomed to.
pub(super) fn svg(shot: &Shot, timeline: &Timeline) -> Result<Vec<u8>, ExportError> {
    let weighed = Weighed::new(shot, timeline);
    let summary = weighed.summary(shot, timeline);
    let headline = report::headline(timeline, shot.snapshot.damage.is_some());
    let name = units::printable(units::basename(&shot.name));
    let mut subtitle = format!("{name} · {} · {headline} · {summary}", timeline.device);
    if let Some(filter) = shot.filter_text(timeline) {
        subtitle = format!("{subtitle} · {filter}");
    }
    let color = |key: FrameKey| {
        let Rgb(r, g, b) = weighed.colors.get(key);
        [r, g, b]
    };
    let flame = FlameSvg {
        tree: &weighed.tree,
        names: &weighed.names,
        weights: &weighed.weights,
        unit: weighed.totals.unit,
        title: measure_name(shot.stacks.measure),
        subtitle: &subtitle,
        color: &color,
    };
    let mut file = Vec::new();
    flame_svg(&mut file, &flame)?;
    Ok(file)
}
