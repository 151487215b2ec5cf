//! The weights that the flame graph and the table of sites show. They are computed when the request
//! changes, between two frames if that is quick, else on a thread.

use crate::work::background::Background;
use crate::work::by_ptr::ByPtr;
use crate::work::worker::{Task, WorkMode};
use eframe::egui;
use oomscope_analysis::filter::Matches;
use oomscope_analysis::{
    CallTree, ClassWeight, Clock, FrameNames, Measure, NodeIx, SiteRow, SiteTable, StackTotals, TreeOptions,
    class_weights, stack_totals,
};
use oomscope_draw::{ColorClass, Coloring, NodeColors};
use oomscope_model::{Recording, StackId, Timeline};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::mem::discriminant;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Allocations that can be summed up between two frames, if no answer before says how long that takes.
const FEW_ALLOCATIONS: usize = 50_000;

/// Time that may be spent between two frames: a quarter of a frame at 60 per second.
const FRAME_SHARE: Duration = Duration::from_millis(4);

/// The parts of an answer that no request changes.
pub(crate) struct StackNames {
    pub(crate) frames: FrameNames,
    pub(crate) sites: SiteTable,
    pub(crate) clock: Clock,
}

/// Everything that weights and their tree depend on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StacksRequest {
    pub(crate) measure: Measure,
    pub(crate) options: TreeOptions,
    /// The allocations that the filter lets through; `None` for all.
    pub(crate) kept: Option<ByPtr<Matches>>,
}

/// The answer to a request.
pub(crate) struct Weighed {
    pub(crate) request: StacksRequest,
    pub(crate) names: Arc<StackNames>,
    pub(crate) tree: Arc<CallTree>,
    pub(crate) totals: StackTotals,
    /// The weight of every node with everything below it.
    pub(crate) weights: Vec<i128>,
    /// All sites, most weight first.
    pub(crate) sites: Vec<SiteRow>,
    /// The colours of allocations, whose classes the graph shows.
    pub(crate) coloring: ByPtr<Coloring>,
    pub(crate) classes: Vec<ClassWeight>,
    pub(crate) colors: NodeColors,
    took: Duration,
}

/// The latest answer, and the thread that finds others.
#[derive(Default)]
pub(crate) struct Weighing {
    task: Option<WeighTask>,
    worker: Background<WeighTask>,
    /// The answer of the worker that was taken last, to notice the next one.
    taken: Option<ByPtr<Weighed>>,
    /// The answer that is shown: the worker's, or a later one that was found between frames.
    weighed: Option<Arc<Weighed>>,
}

impl Weighed {
    /// The weight below a node by classes of colours, the heaviest first.
    pub(crate) fn classes_below(&self, node: NodeIx) -> Vec<(ColorClass, i128)> {
        let mut sums: BTreeMap<u8, i128> = BTreeMap::new();
        for row in self.classes.iter().filter(|row| self.is_below(node, row.stack)) {
            let sum = sums.entry(row.class).or_default();
            *sum = sum.saturating_add(row.weight);
        }
        let mut sums: Vec<_> = sums.into_iter().map(|(class, weight)| (ColorClass(class), weight)).collect();
        sums.sort_by_key(|&(class, weight)| (Reverse(weight), class));
        sums
    }

    /// True if a stack is below a node.
    pub(crate) fn is_below(&self, node: NodeIx, stack: StackId) -> bool {
        let below = self.tree.subtree(node);
        self.tree.leaf_of(stack).is_some_and(|leaf| below.contains(&leaf.0))
    }

    /// The sites of the stacks that are below a node, most weight first.
    pub(crate) fn sites_below(&self, node: NodeIx) -> Vec<SiteRow> {
        if node == NodeIx::ROOT {
            return self.sites.clone();
        }
        self.names.sites.rows(&self.totals, |stack| self.is_below(node, stack))
    }
}

impl Weighing {
    /// The answer to a request, or the one before until that is found.
    pub(crate) fn update(
        &mut self,
        ctx: &egui::Context,
        recording: &Recording,
        mode: WorkMode,
        request: &StacksRequest,
        coloring: &ByPtr<Coloring>,
    ) -> Option<Arc<Weighed>> {
        let is_known = |known: &Arc<Weighed>| known.request == *request && known.coloring == *coloring;
        if !self.weighed.as_ref().is_some_and(is_known) {
            self.weigh(ctx, recording, mode, &(request.clone(), coloring.clone()));
        }
        self.weighed.clone()
    }

    /// Take trees and names from another, so that they are made once.
    pub(crate) fn share_with(&mut self, other: &Self) {
        if self.task.is_none() {
            self.task.clone_from(&other.task);
        }
    }

    /// The latest answer.
    #[cfg(test)]
    pub(crate) fn weighed(&self) -> Option<&Arc<Weighed>> {
        self.weighed.as_ref()
    }

    fn weigh(
        &mut self,
        ctx: &egui::Context,
        recording: &Recording,
        mode: WorkMode,
        request: &(StacksRequest, ByPtr<Coloring>),
    ) {
        let stacks = &request.0;
        let start = || WeighTask { recording: recording.clone(), cache: Arc::new(Cache::default()) };
        let task = self.task.get_or_insert_with(start);
        let last = self.weighed.as_ref().filter(|known| is_alike(&known.request, stacks));
        let is_quick = last.map_or_else(
            || max_allocations(recording, stacks.measure) <= FEW_ALLOCATIONS,
            |last| last.took < FRAME_SHARE,
        );
        // Building a tree always takes long.
        if is_quick && task.cache.has(stacks.options) {
            self.weighed = Some(task.run(request));
            return;
        }
        self.worker.ask(request, ctx, mode, "stacks", || task.clone());
        let latest = self.worker.latest();
        let latest = latest.cloned().map(ByPtr);
        if latest != self.taken {
            self.taken.clone_from(&latest);
            self.weighed = latest.map(|latest| latest.0);
        }
    }
}

/// True if two requests take about as long.
fn is_alike(a: &StacksRequest, b: &StacksRequest) -> bool {
    discriminant(&a.measure) == discriminant(&b.measure) && a.kept.is_some() == b.kept.is_some()
}

/// An upper bound of the allocations that a measure looks at.
fn max_allocations(timeline: &Timeline, measure: Measure) -> usize {
    let lifetimes = &timeline.lifetimes;
    match measure {
        Measure::Live { .. } | Measure::Grown { .. } | Measure::Shrunk { .. } | Measure::ByteTime { .. } => {
            lifetimes.len()
        }
        Measure::Allocated { after, until } => lifetimes.started_between(after, until).len(),
    }
}

/// Weighs the stacks of one device.
#[derive(Clone)]
struct WeighTask {
    recording: Recording,
    cache: Arc<Cache>,
}

/// The parts of answers that are built once, with the first request that needs them.
#[derive(Default)]
struct Cache {
    names: OnceLock<Arc<StackNames>>,
    /// One for each choice of options: at most four.
    trees: Mutex<Vec<Arc<CallTree>>>,
}

impl Task for WeighTask {
    type Request = (StacksRequest, ByPtr<Coloring>);
    type Response = Arc<Weighed>;

    fn run(&self, (request, coloring): &(StacksRequest, ByPtr<Coloring>)) -> Arc<Weighed> {
        let names = self.cache.names.get_or_init(|| Arc::new(StackNames::new(&self.recording)));
        let tree = self.cache.tree(request.options).unwrap_or_else(|| {
            let tree = Arc::new(CallTree::build(self.recording.snapshot(), &names.frames, request.options));
            self.cache.put(Arc::clone(&tree));
            tree
        });
        // Names and trees are not measured: the next request has them.
        let start = Instant::now();
        let kept = request.kept.as_deref();
        let keep = |id| kept.is_none_or(|kept| kept.contains(id));
        let totals = stack_totals(&self.recording, names.clock, request.measure, keep);
        let class = |id| coloring.class_of(&self.recording, id).0;
        let classes = class_weights(&self.recording, names.clock, request.measure, keep, class);
        let colors = NodeColors::new(&tree, &classes, coloring);
        let weights = tree.inclusive(totals.weights());
        let sites = names.sites.rows(&totals, |_| true);
        Arc::new(Weighed {
            request: request.clone(),
            names: Arc::clone(names),
            tree,
            totals,
            weights,
            sites,
            coloring: coloring.clone(),
            classes,
            colors,
            took: start.elapsed(),
        })
    }
}

impl Cache {
    /// True if everything except for the weights is there.
    fn has(&self, options: TreeOptions) -> bool {
        self.names.get().is_some() && self.tree(options).is_some()
    }

    fn tree(&self, options: TreeOptions) -> Option<Arc<CallTree>> {
        let trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        trees.iter().find(|tree| tree.options() == options).cloned()
    }

    fn put(&self, tree: Arc<CallTree>) {
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        // Two graphs may have built it at the same time.
        if trees.iter().all(|known| known.options() != tree.options()) {
            trees.push(tree);
        }
        debug_assert!(trees.len() <= 4, "there are two directions, each with and without internal frames");
    }
}

impl StackNames {
    fn new(recording: &Recording) -> Self {
        let frames = FrameNames::new(recording.snapshot());
        let sites = SiteTable::new(recording.snapshot(), &frames);
        Self { sites, frames, clock: Clock::of(recording) }
    }
}
