//! The parameters of a model in the order in which they were made, and what repeats in it.

use crate::analysis::Category;
use crate::model::Moment;
use crate::program::Run;
use crate::program::share::MUCH;
use crate::projection::failure::Failure;
use std::ops::Range;

/// Repetitions are looked for among this many parameters: a block has no more.
const MAX_PERIOD: usize = 512;

/// No repetition is looked for among more parameters than these, which would take too long.
const MAX_PARAMETERS: usize = 16_384;

/// The parameters that are live when a request fails.
#[derive(Debug)]
pub(super) struct Parameters {
    /// The bytes of each.
    pub(super) sizes: Vec<u64>,
}

/// Parameters of equal blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Region {
    /// All of them, with those after the last block that go on like one.
    pub(super) range: Range<usize>,
    /// How many a block has.
    pub(super) period: usize,
}

impl Region {
    /// How many blocks there are.
    pub(super) fn count(&self) -> usize {
        self.range.len() / self.period
    }
}

impl Parameters {
    /// Those of a run, if some are known.
    pub(super) fn of(run: &Run<'_>, failure: &Failure) -> Option<Self> {
        let live = run.timeline.lifetimes.live_at(Moment(failure.event.0));
        let mut ids: Vec<_> = live.filter(|&id| run.category(id) == Category::Parameter).collect();
        ids.sort_unstable();
        let sizes: Vec<u64> = ids.into_iter().map(|id| run.bytes(id)).collect();
        (!sizes.is_empty()).then_some(Self { sizes })
    }

    /// The blocks of the model, in order: what repeats with the most bytes, and what is as large or has as many parameters.
    pub(super) fn blocks(&self) -> Vec<Region> {
        if MAX_PARAMETERS < self.sizes.len() {
            return Vec::new();
        }
        let bytes = |region: &Region| self.bytes(region.range.clone());
        let mut regions = regions(&self.sizes);
        // What repeats alone may be anything of one size.
        regions.retain(|region| 1 < region.period);
        let Some(main) = regions.iter().max_by_key(|&region| bytes(region)).cloned() else {
            return Vec::new();
        };
        let is_like = |region: &Region| {
            MUCH.is_reached(bytes(region), bytes(&main))
                || !MUCH.is_exceeded(region.period.abs_diff(main.period), main.period)
        };
        regions.retain(is_like);
        regions
    }

    /// Bytes of some of them.
    pub(super) fn bytes(&self, range: Range<usize>) -> u64 {
        self.sizes[range].iter().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }
}

/// What repeats in a sequence, from its start on: at each place what covers most.
fn regions(sizes: &[u64]) -> Vec<Region> {
    // Of each distance, how many from each place on are equal to those at that distance.
    let equal = equal_runs(sizes);
    let mut out = Vec::new();
    let mut at = 0;
    while at < sizes.len() {
        let covered = |&period: &usize| match equal(at, period) {
            run if run < period => 0,
            run => run + period,
        };
        let periods = 1..=MAX_PERIOD.min((sizes.len() - at) / 2);
        // Of periods that cover as much, the shortest.
        let best = periods.rev().max_by_key(covered).filter(|period| covered(period) != 0);
        match best {
            Some(period) => {
                let range = at..at + covered(&period);
                at = range.end;
                out.push(Region { range, period });
            }
            None => at += 1,
        }
    }
    out
}

/// A table of how many elements from a place on are equal to those at a distance.
fn equal_runs(sizes: &[u64]) -> impl Fn(usize, usize) -> usize + use<> {
    let most = MAX_PERIOD.min(sizes.len() / 2);
    let mut runs: Vec<Vec<u32>> = Vec::with_capacity(most);
    for period in 1..=most {
        let mut of_period = vec![0u32; sizes.len()];
        for at in (0..sizes.len() - period).rev() {
            of_period[at] = if sizes[at] == sizes[at + period] { of_period[at + 1] + 1 } else { 0 };
        }
        runs.push(of_period);
    }
    move |at, period| {
        runs.get(period - 1).and_then(|of_period| of_period.get(at)).map_or(0, |&run| run as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::Parameters;

    #[test]
    fn blocks_are_what_repeats_most() {
        // A table, two norms, six blocks that begin with two of them, and such a norm again.
        let block = [3, 3, 70, 9, 50];
        let sizes = [[900].as_slice(), &[3, 3], &block.repeat(6), &[3, 3, 900]].concat();
        let parameters = Parameters { sizes };
        let blocks = parameters.blocks();
        assert_eq!(blocks.len(), 1, "{parameters:?}");
        assert_eq!((blocks[0].period, blocks[0].count()), (5, 6));
        // Those of an encoder, and larger ones of a decoder.
        let other = [3, 3, 70, 9, 50, 70, 9];
        let parameters =
            Parameters { sizes: [&[900], &block.repeat(4)[..], &[5], &other.repeat(4)[..]].concat() };
        let counts: Vec<(usize, usize)> =
            parameters.blocks().iter().map(|region| (region.period, region.count())).collect();
        assert_eq!(counts, [(5, 4), (7, 4)]);
        // Equal sizes alone show no blocks.
        assert!(Parameters { sizes: vec![8; 40] }.blocks().is_empty());
    }
}
