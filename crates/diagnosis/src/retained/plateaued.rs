//! Memory that has plateaued: results that a program keeps for a while or up to a limit. Their number no longer grows.

use super::by_source::FromSource;
use super::source::Source;
use crate::case::Case;
use foldhash::{HashMap, HashSet};
use oomscope_analysis::Category;
use oomscope_model::{AllocId, Allocation, Moment};
use oomscope_program::share::{MOST, NOTABLE};

/// The number of live allocations of a source, now and a while ago.
struct Trend {
    /// After two thirds of the repetitions since the source began to allocate. If most of its memory is older than the
    /// recording, which shows only the last few repetitions: the recording's start.
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
        // A cache that is nearly full hardly grows.
        NOTABLE.is_reached(count_now.saturating_sub(self.count_then), self.recorded.max(1))
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
    let timeline = case.recording.timeline();
    let active = active_repetitions(case, by_source);
    let trend = |(&source, from): (&Source, &FromSource<'_>)| {
        let active = active.get(&source).map_or(&[][..], Vec::as_slice);
        debug_assert!(!active.is_empty(), "a source of live memory has allocated");
        let begin = active.first().copied().unwrap_or(0);
        let index = begin + current.saturating_sub(begin) * 2 / 3;
        let is_mostly_older = MOST.is_reached(from.older_bytes, from.bytes());
        let then = case.repetitions.start(index).filter(|_| !is_mostly_older);
        let then = then.map_or(Moment::START, |event| Moment(event.0));
        let last = active.iter().rfind(|&&at| at < current).copied();
        let made = || from.allocations.iter().filter(|a| a.alloc_event().is_some());
        // Caches that are here are known to be over.
        let is_young =
            |a: &Allocation| case.repetition_of(a) == last && case.category(a.id) != Category::KvCache;
        let young = made().filter(|a| is_young(a)).count();
        let count_now = from.allocations.len();
        (source, Trend { then, count_then: 0, count_now, passing_then: 0, young, recorded: made().count() })
    };
    let mut trends: HashMap<Source, Trend> = by_source.iter().map(trend).collect();
    for id in timeline.ids() {
        let source = Source::of_id(case, id);
        let Some(trend) = source.and_then(|source| trends.get_mut(&source)) else { continue };
        let was_live = timeline.lifetimes.start(id) <= trend.then
            && timeline.gone(id).is_none_or(|gone| trend.then < gone);
        let active = source.and_then(|source| active.get(&source)).map_or(&[][..], Vec::as_slice);
        let passes = was_live && soon_goes(case, id, active);
        trend.passing_then += usize::from(passes);
        trend.count_then += usize::from(was_live && !passes);
    }
    trends.into_iter().filter(|(_, trend)| !trend.is_rising()).map(|(source, _)| source).collect()
}

/// Whether an allocation was freed within the next two of the `active` repetitions, those in which its source allocated.
fn soon_goes(case: &Case<'_>, id: AllocId, active: &[usize]) -> bool {
    let made = case.repetitions.index_at(case.recording.lifetimes.start(id));
    let gone = case.recording.gone(id).filter(|&gone| gone <= case.moment);
    let gone = gone.and_then(|gone| case.repetitions.index_at(gone));
    made.zip(gone).is_some_and(|(made, gone)| {
        let mut later = active[active.partition_point(|&at| at <= made)..].iter();
        later.nth(1).is_none_or(|&second| gone < second)
    })
}

/// The repetitions in which each source allocated, freed memory included.
fn active_repetitions(
    case: &Case<'_>,
    by_source: &HashMap<Source, FromSource<'_>>,
) -> HashMap<Source, Vec<usize>> {
    let timeline = case.recording.timeline();
    let mut active: HashMap<Source, Vec<usize>> = HashMap::default();
    for id in timeline.ids() {
        let Some(source) = Source::of_id(case, id).filter(|source| by_source.contains_key(source)) else {
            continue;
        };
        let at = case.repetitions.index_at(timeline.lifetimes.start(id)).unwrap_or(0);
        let active = active.entry(source).or_default();
        if active.last() != Some(&at) {
            active.push(at);
        }
    }
    active
}
