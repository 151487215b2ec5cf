//! Memory that has plateaued: results that a program keeps for a while or up to a limit. Their number no longer grows.

use super::by_source::{FromSource, SETTLED_AGE};
use super::source::Source;
use crate::diagnosis::case::Case;
use crate::model::{AllocId, Moment};
use foldhash::{HashMap, HashSet};

/// A source has plateaued unless at least one in this many of its live allocations from the recording was added in the last
/// third of its time: a cache that is nearly full hardly grows.
const ADDED_PART: usize = 8;

/// The number of live allocations of a source, now and a while ago.
struct Trend {
    /// After two thirds of the repetitions since the source began to allocate.
    then: Moment,
    count_then: usize,
    count_now: usize,
    /// How many more there were then that soon went: one line may make what stays and what does not, as the layers of a
    /// model do.
    passing_then: usize,
    /// How many of those now are too young to tell whether they stay.
    young: usize,
    /// How many of those now are of the recording.
    recorded: usize,
}

impl Trend {
    fn is_rising(&self) -> bool {
        let count_now = self.count_now - self.passing_then.min(self.young);
        self.count_then + self.recorded.div_ceil(ADDED_PART).max(1) <= count_now
    }
}

/// The sources whose memory has hardly grown in the last third of their time: caches that are full, the last few results,
/// tables that were made once.
pub(super) fn plateaued(
    case: &Case<'_>,
    by_source: &HashMap<Source, FromSource<'_>>,
    current: usize,
) -> HashSet<Source> {
    if by_source.is_empty() {
        return HashSet::default();
    }
    let timeline = case.timeline;
    let begins = begins(case, by_source);
    let trend = |(&source, from): (&Source, &FromSource<'_>)| {
        debug_assert!(begins.contains_key(&source), "a source of live memory has allocated");
        let begin = begins.get(&source).copied().unwrap_or(0);
        let index = begin + current.saturating_sub(begin) * 2 / 3;
        let then = case.repetitions.start(index).map_or(Moment::START, |event| Moment(event.0));
        let made = || from.allocations.iter().filter_map(|a| a.alloc_event());
        let is_young = |event| case.repetitions.index_of(event).is_some_and(|at| current < at + SETTLED_AGE);
        let young = made().filter(|&event| is_young(event)).count();
        let count_now = from.allocations.len();
        (source, Trend { then, count_then: 0, count_now, passing_then: 0, young, recorded: made().count() })
    };
    let mut trends: HashMap<Source, Trend> = by_source.iter().map(trend).collect();
    for id in timeline.ids() {
        let source = Source::of_id(case, id);
        let Some(trend) = source.and_then(|source| trends.get_mut(&source)) else { continue };
        let was_live = timeline.lifetimes.start(id) <= trend.then
            && timeline.gone(id).is_none_or(|gone| trend.then < gone);
        let passes = was_live && soon_goes(case, id);
        trend.passing_then += usize::from(passes);
        trend.count_then += usize::from(was_live && !passes);
    }
    trends.into_iter().filter(|(_, trend)| !trend.is_rising()).map(|(source, _)| source).collect()
}

/// Whether an allocation went in the repetition that made it, or in the next one.
fn soon_goes(case: &Case<'_>, id: AllocId) -> bool {
    let made = case.timeline.lifetimes.start(id).event().and_then(|event| case.repetitions.index_of(event));
    let gone = case.timeline.gone(id).filter(|&gone| gone <= case.moment);
    let gone = gone.and_then(|gone| case.repetitions.index_at(gone));
    made.zip(gone).is_some_and(|(made, gone)| gone < made + SETTLED_AGE)
}

/// The repetition in which each source began to allocate, freed memory included.
fn begins(case: &Case<'_>, by_source: &HashMap<Source, FromSource<'_>>) -> HashMap<Source, usize> {
    let timeline = case.timeline;
    let mut begins: HashMap<Source, usize> = HashMap::default();
    // In allocation order, so the first allocation of a source decides.
    for id in timeline.ids() {
        let Some(source) = Source::of_id(case, id) else { continue };
        if by_source.contains_key(&source) && !begins.contains_key(&source) {
            begins.insert(source, case.repetitions.index_at(timeline.lifetimes.start(id)).unwrap_or(0));
        }
    }
    begins
}
