//! What the flame graph and the table of sites show: computed when it changes, on a thread where that
//! takes long.

use super::latest::Latest;
use crate::analysis::{
    CallTree, Clock, FrameNames, Measure, SiteRow, SiteTable, StackTotals, TreeOptions, stack_totals,
};
use crate::model::{Snapshot, Timeline};
use eframe::egui;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Allocations that can be summed up between two frames.
const FEW_ALLOCATIONS: usize = 50_000;

/// What may be done between two frames.
const FRAME_SHARE: Duration = Duration::from_millis(4);

/// What does not depend on any question: names, sites, and whether there are times.
pub(super) struct Book {
    pub(super) names: FrameNames,
    pub(super) sites: SiteTable,
    pub(super) clock: Clock,
}

/// What is to be weighed, and how it is to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) measure: Measure,
    pub(super) options: TreeOptions,
}

/// The answer to a wish.
pub(super) struct Weighed {
    pub(super) wish: Wish,
    pub(super) tree: Arc<CallTree>,
    pub(super) totals: StackTotals,
    /// What every node weighs with everything below it.
    pub(super) weights: Vec<i128>,
    /// Sites, most weight first.
    pub(super) sites: Vec<SiteRow>,
    took: Duration,
}

/// Everything that is kept between frames.
#[derive(Default)]
pub(super) struct Work {
    book: Latest<(), Arc<Book>>,
    building: Latest<TreeOptions, Arc<CallTree>>,
    trees: Vec<Arc<CallTree>>,
    weighing: Latest<Wish, Arc<Weighed>>,
    weighed: Option<Arc<Weighed>>,
}

impl Work {
    /// Names and sites, once they are known.
    pub(super) fn book(
        &mut self,
        ctx: &egui::Context,
        snapshot: &Arc<Snapshot>,
        at: usize,
    ) -> Option<Arc<Book>> {
        self.book.ask(ctx, "frame-names", &(), || {
            let snapshot = Arc::clone(snapshot);
            move || Arc::new(Book::new(&snapshot, at))
        });
        self.book.answer(&()).cloned()
    }

    /// What a wish asks for; until that is known, what was asked for before.
    pub(super) fn update(
        &mut self,
        ctx: &egui::Context,
        snapshot: &Arc<Snapshot>,
        at: usize,
        book: &Arc<Book>,
        wish: Wish,
    ) -> Option<Arc<Weighed>> {
        if let Some(tree) = self.tree(ctx, snapshot, book, wish.options)
            && self.weighed.as_ref().is_none_or(|known| known.wish != wish)
        {
            self.weigh(ctx, snapshot, at, book, wish, tree);
        }
        self.weighed.clone()
    }

    /// The latest answers.
    #[cfg(test)]
    pub(super) fn shown(&self) -> Option<(&Book, &Weighed)> {
        Some((self.book.answer(&())?.as_ref(), self.weighed.as_deref()?))
    }

    fn tree(
        &mut self,
        ctx: &egui::Context,
        snapshot: &Arc<Snapshot>,
        book: &Arc<Book>,
        options: TreeOptions,
    ) -> Option<Arc<CallTree>> {
        if let Some(tree) = self.trees.iter().find(|tree| tree.options() == options) {
            return Some(Arc::clone(tree));
        }
        self.building.ask(ctx, "call-tree", &options, || {
            let (snapshot, book) = (Arc::clone(snapshot), Arc::clone(book));
            move || Arc::new(CallTree::build(&snapshot, &book.names, options))
        });
        let tree = Arc::clone(self.building.answer(&options)?);
        self.trees.push(Arc::clone(&tree));
        Some(tree)
    }

    fn weigh(
        &mut self,
        ctx: &egui::Context,
        snapshot: &Arc<Snapshot>,
        at: usize,
        book: &Arc<Book>,
        wish: Wish,
        tree: Arc<CallTree>,
    ) {
        let Some(timeline) = snapshot.timelines.get(at) else { return };
        let is_alike = |known: &Arc<Weighed>| {
            std::mem::discriminant(&known.wish.measure) == std::mem::discriminant(&wish.measure)
        };
        let was_quick =
            self.weighed.as_ref().filter(|known| is_alike(known)).map(|known| known.took < FRAME_SHARE);
        if was_quick.unwrap_or_else(|| at_most(timeline, wish.measure) <= FEW_ALLOCATIONS) {
            self.weighed = Some(Arc::new(Weighed::new(snapshot, timeline, book, wish, tree)));
            return;
        }
        self.weighing.ask(ctx, "weigh-stacks", &wish, || {
            let (snapshot, book) = (Arc::clone(snapshot), Arc::clone(book));
            move || Arc::new(Weighed::new(&snapshot, &snapshot.timelines[at], &book, wish, tree))
        });
        if let Some((_, weighed)) = self.weighing.latest() {
            self.weighed = Some(Arc::clone(weighed));
        }
    }
}

/// How many allocations a measure is about, at most.
fn at_most(timeline: &Timeline, measure: Measure) -> usize {
    let lifetimes = &timeline.lifetimes;
    match measure {
        Measure::Live { .. } | Measure::ByteTime { .. } => lifetimes.len(),
        Measure::Allocated { after, until } => lifetimes.started_between(after, until).len(),
    }
}

impl Book {
    fn new(snapshot: &Snapshot, at: usize) -> Self {
        let names = FrameNames::new(snapshot);
        let sites = SiteTable::new(snapshot, &names);
        Self { sites, names, clock: Clock::of(&snapshot.timelines[at]) }
    }
}

impl Weighed {
    fn new(snapshot: &Snapshot, timeline: &Timeline, book: &Book, wish: Wish, tree: Arc<CallTree>) -> Self {
        let start = Instant::now();
        let totals = stack_totals(snapshot, timeline, book.clock, wish.measure, |_| true);
        let weights = tree.inclusive(totals.weights());
        let sites = book.sites.rows(&totals);
        Self { wish, tree, totals, weights, sites, took: start.elapsed() }
    }
}
