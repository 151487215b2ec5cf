//! What the flame graph and the table of sites show: computed when it changes, on a thread where that
//! takes long.

use crate::analysis::filter::Matches;
use crate::analysis::{
    CallTree, Clock, FrameNames, Measure, NodeIx, SiteRow, SiteTable, StackTotals, TreeOptions, stack_totals,
};
use crate::app::background::Background;
use crate::app::device::DeviceState;
use crate::app::worker::Task;
use crate::model::{Snapshot, StackId, Timeline};
use eframe::egui;
use std::mem::discriminant;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Allocations that can be summed up between two frames.
const FEW_ALLOCATIONS: usize = 50_000;

/// What may be done between two frames.
const FRAME_SHARE: Duration = Duration::from_millis(4);

/// What does not depend on any question: names, sites, and whether there are times.
pub(in crate::app) struct Book {
    pub(in crate::app) names: FrameNames,
    pub(in crate::app) sites: SiteTable,
    pub(in crate::app) clock: Clock,
}

/// What is to be weighed, and how it is to be shown.
#[derive(Debug, Clone)]
pub(in crate::app) struct Wish {
    pub(in crate::app) measure: Measure,
    pub(in crate::app) options: TreeOptions,
    /// What the filter lets through; `None` for everything.
    pub(in crate::app) kept: Option<Arc<Matches>>,
}

impl PartialEq for Wish {
    fn eq(&self, other: &Self) -> bool {
        let kept = |wish: &Self| wish.kept.as_ref().map(Arc::as_ptr);
        self.measure == other.measure && self.options == other.options && kept(self) == kept(other)
    }
}

/// The answer to a wish.
pub(in crate::app) struct Weighed {
    pub(in crate::app) wish: Wish,
    pub(in crate::app) book: Arc<Book>,
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
pub(in crate::app) struct Work {
    weigher: Option<Weigher>,
    worker: Background<Weigher>,
    /// The answer of the worker that was looked at last.
    taken: Option<Arc<Weighed>>,
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
        self.book.sites.rows(&self.totals, |stack| self.is_below(node, stack))
    }
}

impl Work {
    /// What a wish asks for; until that is known, what was asked for before.
    pub(in crate::app) fn update(
        &mut self,
        ctx: &egui::Context,
        device: &DeviceState,
        wish: &Wish,
    ) -> Option<Arc<Weighed>> {
        if self.weighed.as_ref().is_none_or(|known| known.wish != *wish) {
            self.weigh(ctx, device, wish);
        }
        self.weighed.clone()
    }

    /// The latest answer.
    #[cfg(test)]
    pub(in crate::app) fn weighed(&self) -> Option<&Arc<Weighed>> {
        self.weighed.as_ref()
    }

    fn weigh(&mut self, ctx: &egui::Context, device: &DeviceState, wish: &Wish) {
        let start =
            || Weigher { snapshot: device.snapshot(), at: device.index(), shelf: Arc::new(Shelf::default()) };
        let weigher = self.weigher.get_or_insert_with(start);
        let last = self.weighed.as_ref().filter(|known| is_alike(&known.wish, wish));
        let is_quick = last.map_or_else(
            || at_most(device.timeline(), wish.measure) <= FEW_ALLOCATIONS,
            |last| last.took < FRAME_SHARE,
        );
        if is_quick && weigher.shelf.has(wish.options) {
            self.weighed = Some(weigher.run(wish));
            return;
        }
        self.worker.ask(wish, ctx, device.raster_mode(), "stacks", || weigher.clone());
        let latest = self.worker.latest();
        if latest.map(Arc::as_ptr) != self.taken.as_ref().map(Arc::as_ptr) {
            self.taken = latest.cloned();
            self.weighed = latest.cloned();
        }
    }
}

/// Whether two wishes take about as long.
fn is_alike(a: &Wish, b: &Wish) -> bool {
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
struct Weigher {
    snapshot: Arc<Snapshot>,
    at: usize,
    shelf: Arc<Shelf>,
}

/// What is built once, with the first wish that needs it.
#[derive(Default)]
struct Shelf {
    book: OnceLock<Arc<Book>>,
    trees: Mutex<Vec<Arc<CallTree>>>,
}

impl Task for Weigher {
    type Wish = Wish;
    type Done = Arc<Weighed>;

    fn run(&self, wish: &Wish) -> Arc<Weighed> {
        let book = self.shelf.book.get_or_init(|| Arc::new(Book::new(&self.snapshot, self.at)));
        let tree = self.shelf.tree(wish.options).unwrap_or_else(|| {
            let tree = Arc::new(CallTree::build(&self.snapshot, &book.names, wish.options));
            self.shelf.put(Arc::clone(&tree));
            tree
        });
        let start = Instant::now();
        let timeline = &self.snapshot.timelines[self.at];
        let kept = wish.kept.as_deref();
        let keep = |id| kept.is_none_or(|kept| kept.contains(id));
        let totals = stack_totals(&self.snapshot, timeline, book.clock, wish.measure, keep);
        let weights = tree.inclusive(totals.weights());
        let sites = book.sites.rows(&totals, |_| true);
        let (wish, book) = (wish.clone(), Arc::clone(book));
        Arc::new(Weighed { wish, book, tree, totals, weights, sites, took: start.elapsed() })
    }
}

impl Shelf {
    /// Whether everything but the weights is there.
    fn has(&self, options: TreeOptions) -> bool {
        self.book.get().is_some() && self.tree(options).is_some()
    }

    fn tree(&self, options: TreeOptions) -> Option<Arc<CallTree>> {
        let trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        trees.iter().find(|tree| tree.options() == options).cloned()
    }

    fn put(&self, tree: Arc<CallTree>) {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner).push(tree);
    }
}

impl Book {
    fn new(snapshot: &Snapshot, at: usize) -> Self {
        let names = FrameNames::new(snapshot);
        let sites = SiteTable::new(snapshot, &names);
        Self { sites, names, clock: Clock::of(&snapshot.timelines[at]) }
    }
}
