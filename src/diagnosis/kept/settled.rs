//! Results that a program keeps for a while or up to a limit: their number no longer grows.

use super::origins::Origin;
use super::source::Source;
use crate::diagnosis::Context;
use crate::model::Moment;
use foldhash::{HashMap, HashSet};

/// By this part of what the recording made and holds, at least, it must have grown of late.
const GROWN_PART: usize = 8;

/// The live allocations of a source, now and a while ago.
struct Trend {
    /// After two thirds of the rounds since it began.
    then: Moment,
    count_then: usize,
    count_now: usize,
    /// How many of those now are of the recording.
    recorded: usize,
}

/// Sources of which as many allocations were live after two thirds of their time as are now: caches that
/// are full, the last few results, tables that were made once.
pub(super) fn settled(
    context: &Context<'_>,
    origins: &HashMap<Source, Origin<'_>>,
    current: usize,
) -> HashSet<Source> {
    if origins.is_empty() {
        return HashSet::default();
    }
    let timeline = context.timeline;
    let begins = begins(context, origins);
    let trend = |(&source, origin): (&Source, &Origin<'_>)| {
        let begin = begins.get(&source).copied().unwrap_or(0);
        let round = begin + (current.saturating_sub(begin) * 2).div_ceil(3);
        let then = context.rounds.start(round).map_or(Moment::START, |event| Moment(event.0));
        let recorded = origin.allocations.iter().filter(|a| a.alloc_event().is_some()).count();
        (source, Trend { then, count_then: 0, count_now: origin.allocations.len(), recorded })
    };
    let mut trends: HashMap<Source, Trend> = origins.iter().map(trend).collect();
    for id in timeline.lifetimes.ids() {
        let source = Source::of_id(context, id);
        let Some(trend) = source.and_then(|source| trends.get_mut(&source)) else { continue };
        let gone = timeline.lifetimes.requested(id).or(timeline.lifetimes.end(id));
        let was_live =
            timeline.lifetimes.start(id) <= trend.then && gone.is_none_or(|gone| trend.then < gone);
        trend.count_then += usize::from(was_live);
    }
    let grows =
        |trend: &Trend| trend.count_then + trend.recorded.div_ceil(GROWN_PART).max(1) <= trend.count_now;
    trends.into_iter().filter(|(_, trend)| !grows(trend)).map(|(source, _)| source).collect()
}

/// The round in which each source began to allocate, freed memory included.
fn begins(context: &Context<'_>, origins: &HashMap<Source, Origin<'_>>) -> HashMap<Source, usize> {
    let timeline = context.timeline;
    let mut begins: HashMap<Source, usize> = HashMap::default();
    for id in timeline.lifetimes.ids() {
        let Some(source) = Source::of_id(context, id) else { continue };
        if origins.contains_key(&source) && !begins.contains_key(&source) {
            begins.insert(source, context.rounds.round_at(timeline.lifetimes.start(id)).unwrap_or(0));
        }
    }
    begins
}
