//! Caches of keys and values that each call concatenates anew: the generation that runs replaces in each call what the
//! call before made. A cache that the next call did not replace, while it made another, is of a generation that is over.

use crate::case::Case;
use foldhash::{HashMap, HashSet};
use oomscope_analysis::Category;
use oomscope_model::{AllocId, Allocation, Moment, StackId};
use oomscope_program::share::MOST;

/// The caches that one repetition made at a stack.
struct Made {
    repetition: usize,
    at: Moment,
    /// How many.
    count: usize,
    /// How many of those that the repetition before made went in this one.
    replaced: usize,
    /// When the first of them went.
    first_replaced: Option<Moment>,
}

impl Made {
    /// Number of events from the first new cache to the first old one that went.
    fn wait(&self) -> u32 {
        self.first_replaced.map_or(0, |gone| gone.0.saturating_sub(self.at.0))
    }
}

/// Shows which caches the generation that runs no longer replaces.
#[derive(Default)]
pub(super) struct ReplacedCaches {
    /// Of each stack that replaces its caches, the repetitions whose caches stayed.
    stayed: HashMap<StackId, HashSet<usize>>,
}

impl ReplacedCaches {
    pub(super) fn of(case: &Case<'_>, current: usize) -> Self {
        let made = made_by_stack(case);
        let replaces = |made: &[Made]| made.windows(2).any(|pair| carries(&pair[0], &pair[1]));
        let stayed = made.into_iter().filter(|(_, made)| replaces(made));
        Self { stayed: stayed.map(|(stack, made)| (stack, stayed_of(case, &made, current))).collect() }
    }

    /// Whether an allocation of the recording is a cache that no running generation replaces.
    pub(super) fn contains(&self, case: &Case<'_>, a: &Allocation) -> bool {
        let stayed = self.stayed.get(&a.stack);
        stayed.zip(case.repetition_of(a)).is_some_and(|(stayed, repetition)| stayed.contains(&repetition))
    }
}

/// Whether a repetition replaced most caches of the one before.
fn carries(before: &Made, next: &Made) -> bool {
    MOST.is_reached(next.replaced, before.count)
}

/// The repetitions whose caches the next one did not replace, although it has had the time.
fn stayed_of(case: &Case<'_>, made: &[Made], current: usize) -> HashSet<usize> {
    let pairs = || made.windows(2).map(|pair| (&pair[0], &pair[1]));
    // Where the recording begins within a call, the first caches are missing.
    let is_whole = |(before, next): &(&Made, &Made)| carries(before, next) && before.count == next.count;
    let wait = pairs().filter(is_whole).map(|(_, next)| next.wait()).max();
    let had_time = |next: &Made| {
        next.repetition < current || wait.is_some_and(|wait| wait < case.moment.0.saturating_sub(next.at.0))
    };
    let stayed = pairs().filter(|(_, next)| next.replaced == 0 && had_time(next));
    stayed.map(|(before, _)| before.repetition).collect()
}

/// The caches that each stack made within the recording, by repetition and in order.
fn made_by_stack(case: &Case<'_>) -> HashMap<StackId, Vec<Made>> {
    let timeline = case.recording.timeline();
    let is_cache = |id: &AllocId| case.category(*id) == Category::KvCache;
    let mut made: HashMap<StackId, Vec<Made>> = HashMap::default();
    let mut gone: Vec<(StackId, usize, Moment)> = Vec::new();
    for id in timeline.ids().filter(is_cache) {
        let (at, stack) = (timeline.lifetimes.start(id), timeline.stack(id));
        let Some(repetition) = case.repetitions.index_at(at).filter(|_| at <= case.moment) else { continue };
        let of_stack = made.entry(stack).or_default();
        match of_stack.last_mut().filter(|last| last.repetition == repetition) {
            Some(last) => last.count += 1,
            None => of_stack.push(Made { repetition, at, count: 1, replaced: 0, first_replaced: None }),
        }
        if let Some(end) = timeline.gone(id).filter(|&end| end <= case.moment) {
            gone.push((stack, of_stack.len(), end));
        }
    }
    for (stack, next, end) in gone {
        let next = made.get_mut(&stack).and_then(|made| made.get_mut(next));
        if let Some(next) = next.filter(|next| case.repetitions.index_at(end) == Some(next.repetition)) {
            next.replaced += 1;
            next.first_replaced = next.first_replaced.map(|first| first.min(end)).or(Some(end));
        }
    }
    made
}
