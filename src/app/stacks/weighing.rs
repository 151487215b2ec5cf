//! What the flame graph and the table of sites show: computed when it changes, on a thread where that
//! takes long.

use crate::analysis::filter::Matches;
use crate::analysis::{
    CallTree, Clock, FrameNames, Measure, NodeIx, SiteRow, SiteTable, StackTotals, TreeOptions, stack_totals,
};
use crate::app::work::background::Background;
use crate::app::work::by_ptr::ByPtr;
use crate::app::work::worker::{Task, WorkMode};
use crate::model::{Recording, StackId, Timeline};
use eframe::egui;
use std::mem::discriminant;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Allocations that can be summed up between two frames.
const FEW_ALLOCATIONS: usize = 50_000;

/// What may be done between two frames.
const FRAME_SHARE: Duration = Duration::from_millis(4);

/// What does not depend on any question: names, sites, and whether there are times.
pub(in crate::app) struct StackNames {
    pub(in crate::app) frames: FrameNames,
    pub(in crate::app) sites: SiteTable,
    pub(in crate::app) clock: Clock,
}

/// What is to be weighed, and how it is to be shown.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct StacksRequest {
    pub(in crate::app) measure: Measure,
    pub(in crate::app) options: TreeOptions,
    /// What the filter lets through; `None` for everything.
    pub(in crate::app) kept: Option<ByPtr<Matches>>,
}

/// The answer to a request.
pub(in crate::app) struct Weighed {
    pub(in crate::app) request: StacksRequest,
    pub(in crate::app) names: Arc<StackNames>,
    pub(in crate::app) tree: Arc<CallTree>,
    pub(in crate::app) totals: StackTotals,
    /// What every node weighs with everything below it.
    pub(in crate::app) weights: Vec<i128>,
    /// All sites, most weight first.
    pub(in crate::app) sites: Vec<SiteRow>,
    took: Duration,
}

/// Everything that is kept between frames.
#[derive(Default)]
pub(in crate::app) struct Weighing {
    task: Option<WeighTask>,
    worker: Background<WeighTask>,
    /// The answer of the worker that was looked at last.
    taken: Option<ByPtr<Weighed>>,
    weighed: Option<Arc<Weighed>>,
}

impl Weighed {
    /// Whether a stack is below a node.
    pub(in crate::app) fn is_below(&self, node: NodeIx, stack: StackId) -> bool {
        let below = self.tree.subtree(node);
        self.tree.leaf_of(stack).is_some_and(|leaf| below.contains(&leaf.0))
    }

    /// The sites of the stacks that are below a node, most weight first.
    pub(in crate::app) fn sites_below(&self, node: NodeIx) -> Vec<SiteRow> {
        if node == NodeIx::ROOT {
            return self.sites.clone();
        }
        self.names.sites.rows(&self.totals, |stack| self.is_below(node, stack))
    }
}

impl Weighing {
    /// What a request asks for; until that is known, what was asked for before.
    pub(in crate::app) fn update(
        &mut self,
        ctx: &egui::Context,
        recording: &Recording,
        mode: WorkMode,
        request: &StacksRequest,
    ) -> Option<Arc<Weighed>> {
        if self.weighed.as_ref().is_none_or(|known| known.request != *request) {
            self.weigh(ctx, recording, mode, request);
        }
        self.weighed.clone()
    }

    /// The latest answer.
    #[cfg(test)]
    pub(in crate::app) fn weighed(&self) -> Option<&Arc<Weighed>> {
        self.weighed.as_ref()
    }

    fn weigh(&mut self, ctx: &egui::Context, recording: &Recording, mode: WorkMode, request: &StacksRequest) {
        let start = || WeighTask { recording: recording.clone(), cache: Arc::new(Cache::default()) };
        let task = self.task.get_or_insert_with(start);
        let last = self.weighed.as_ref().filter(|known| is_alike(&known.request, request));
        let is_quick = last.map_or_else(
            || at_most(recording, request.measure) <= FEW_ALLOCATIONS,
            |last| last.took < FRAME_SHARE,
        );
        if is_quick && task.cache.has(request.options) {
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

/// Whether two wishes take about as long.
fn is_alike(a: &StacksRequest, b: &StacksRequest) -> bool {
    discriminant(&a.measure) == discriminant(&b.measure) && a.kept.is_some() == b.kept.is_some()
}

/// How many allocations a measure is about, at most.
fn at_most(timeline: &Timeline, measure: Measure) -> usize {
    let lifetimes = &timeline.lifetimes;
    match measure {
        Measure::Live { .. } | Measure::ByteTime { .. } => lifetimes.len(),
        Measure::Allocated { after, until } => lifetimes.started_between(after, until).len(),
    }
}

/// Weighs the stacks of one device.
#[derive(Clone)]
struct WeighTask {
    recording: Recording,
    cache: Arc<Cache>,
}

/// What is built once, with the first request that needs it.
#[derive(Default)]
struct Cache {
    names: OnceLock<Arc<StackNames>>,
    trees: Mutex<Vec<Arc<CallTree>>>,
}

impl Task for WeighTask {
    type Request = StacksRequest;
    type Response = Arc<Weighed>;

    fn run(&self, request: &StacksRequest) -> Arc<Weighed> {
        let names = self.cache.names.get_or_init(|| Arc::new(StackNames::new(&self.recording)));
        let tree = self.cache.tree(request.options).unwrap_or_else(|| {
            let tree = Arc::new(CallTree::build(self.recording.snapshot(), &names.frames, request.options));
            self.cache.put(Arc::clone(&tree));
            tree
        });
        let start = Instant::now();
        let kept = request.kept.as_deref();
        let keep = |id| kept.is_none_or(|kept| kept.contains(id));
        let totals =
            stack_totals(self.recording.snapshot(), &self.recording, names.clock, request.measure, keep);
        let weights = tree.inclusive(totals.weights());
        let sites = names.sites.rows(&totals, |_| true);
        let (request, names) = (request.clone(), Arc::clone(names));
        Arc::new(Weighed { request, names, tree, totals, weights, sites, took: start.elapsed() })
    }
}

impl Cache {
    /// Whether everything but the weights is there.
    fn has(&self, options: TreeOptions) -> bool {
        self.names.get().is_some() && self.tree(options).is_some()
    }

    fn tree(&self, options: TreeOptions) -> Option<Arc<CallTree>> {
        let trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        trees.iter().find(|tree| tree.options() == options).cloned()
    }

    fn put(&self, tree: Arc<CallTree>) {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner).push(tree);
    }
}

impl StackNames {
    fn new(recording: &Recording) -> Self {
        let frames = FrameNames::new(recording.snapshot());
        let sites = SiteTable::new(recording.snapshot(), &frames);
        Self { sites, frames, clock: Clock::of(recording) }
    }
}
