//! The parameters of a model in the order in which they were made, and what repeats in it.

use crate::Run;
use crate::projection::failure::Failure;
use crate::share::{MUCH, NEARLY_ALL};
use oomscope_analysis::Category;
use oomscope_model::{AllocId, Moment, SaturatingSum as _};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// Repetitions are looked for among this many parameters: a block has no more.
const MAX_PERIOD: usize = 512;

/// No more repetitions are looked for than these: no model has as many stages.
const MAX_REGIONS: usize = 64;

/// No repetition is looked for among more parameters than these, which would take too long.
const MAX_PARAMETERS: usize = 16_384;

/// The parameters that are live when a request fails.
#[derive(Debug)]
pub(super) struct Parameters {
    /// The bytes of each.
    pub(super) sizes: Vec<u64>,
    /// The bytes of those that are trained, as far as the forward shows.
    pub(super) trained: Vec<u64>,
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
        let live = run.recording.lifetimes.live_at(Moment(failure.event.0));
        let mut ids: Vec<_> = live.filter(|&id| run.category(id) == Category::Parameter).collect();
        ids.sort_unstable();
        let sizes: Vec<u64> = ids.iter().map(|&id| run.bytes(id)).collect();
        let of_one = without_copy(&sizes);
        ids.drain(of_one.end..);
        ids.drain(..of_one.start);
        let sizes = sizes[of_one].to_vec();
        // Adapters are trained, and then nothing else.
        let adds_adapters = run.stacks_with(|code| code.adds_adapters());
        let is_adapter = |id: &AllocId| adds_adapters.has(run.recording.stack(*id));
        let adapters: Vec<u64> = ids.into_iter().filter(is_adapter).map(|id| run.bytes(id)).collect();
        let trained = if adapters.is_empty() { sizes.clone() } else { adapters };
        (!sizes.is_empty()).then_some(Self { sizes, trained })
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

    /// The bytes of the most frequent of the parameters of a block: a number for each feature, as norms and biases have.
    pub(super) fn width(&self, region: &Region) -> u64 {
        width(&self.sizes[region.range.start..region.range.start + region.period])
    }

    /// Bytes of some of them.
    pub(super) fn bytes(&self, range: Range<usize>) -> u64 {
        self.sizes[range].iter().copied().saturating_sum()
    }
}

/// The most frequent of some sizes; of several, the smallest.
pub(super) fn width(sizes: &[u64]) -> u64 {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for &bytes in sizes {
        *counts.entry(bytes).or_default() += 1;
    }
    let most_frequent = counts.into_iter().max_by_key(|&(bytes, count)| (count, Reverse(bytes)));
    most_frequent.map_or(1, |(bytes, _)| bytes.max(1))
}

/// The sizes of one model, where nearly all of them are those of a model and of its copy, as an average of its weights is: a sequence
/// that comes twice, in a part of which something repeats already.
fn without_copy(sizes: &[u64]) -> Range<usize> {
    let all = 0..sizes.len();
    if MAX_PARAMETERS < sizes.len() {
        return all;
    }
    let periods = (1..=sizes.len() / 2).rev();
    let mut periods = periods.take_while(|period| NEARLY_ALL.is_reached(2 * period, sizes.len()));
    let copied = periods.find_map(|period| {
        // How many in a row come again, up to each.
        let mut run = 0;
        let mut pairs = sizes.iter().zip(&sizes[period..]);
        let last = pairs.position(|(size, again)| {
            run = if size == again { run + 1 } else { 0 };
            run == period
        })?;
        Some(last + 1 - period..last + 1)
    });
    let Some(copied) = copied else { return all };
    let within = &sizes[copied.clone()];
    // Half of many equal blocks consists of such blocks alone.
    let is_model = |blocks: Region| 1 < blocks.period && blocks.range.len() < within.len();
    let is_copied = most_repeated(&equal_runs(within), 0..within.len()).is_some_and(is_model);
    if is_copied { 0..copied.end } else { all }
}

/// What repeats in a sequence, in order: what covers most of it, and then what covers most of the rest.
fn regions(sizes: &[u64]) -> Vec<Region> {
    // Of each distance, how many from each place on are equal to those at that distance.
    let equal = equal_runs(sizes);
    let mut out: Vec<Region> = Vec::new();
    let whole = 0..sizes.len();
    let mut open = Vec::from([whole]);
    while let Some(within) = open.pop().filter(|_| out.len() < MAX_REGIONS) {
        let Some(best) = most_repeated(&equal, within.clone()) else { continue };
        open.push(within.start..best.range.start);
        open.push(best.range.end..within.end);
        out.push(best);
    }
    out.sort_unstable_by_key(|region| region.range.start);
    out
}

/// What covers most of a part of a sequence by repeating; of those that cover as much, the first, and of these the shortest.
fn most_repeated(equal: &EqualRuns, within: Range<usize>) -> Option<Region> {
    let covered = |at: usize, period: usize| match equal.run(at, period) {
        run if run < period => 0,
        run => (run + period).min(within.end - at),
    };
    let at_place = |at: usize| (1..=(within.end - at) / 2).map(move |period| (at, period));
    let places = within.clone().flat_map(|at| at_place(at).take(equal.0.len()));
    let all = places.map(|(at, period)| (covered(at, period), at, period));
    let best = all.max_by_key(|&(covered, at, period)| (covered, Reverse(at), Reverse(period)));
    let (covered, at, period) = best.filter(|best| best.0 != 0)?;
    Some(Region { range: at..at + covered, period })
}

/// Of each distance from 1 on, how many elements of a sequence from each place on are equal to those at that distance.
struct EqualRuns(Vec<Vec<u32>>);

impl EqualRuns {
    fn run(&self, at: usize, period: usize) -> usize {
        self.0.get(period - 1).and_then(|of_period| of_period.get(at)).map_or(0, |&run| run as usize)
    }
}

fn equal_runs(sizes: &[u64]) -> EqualRuns {
    let distances = 1..=MAX_PERIOD.min(sizes.len() / 2);
    let runs = distances.map(|distance| {
        let mut runs = vec![0u32; sizes.len()];
        for at in (0..sizes.len() - distance).rev() {
            runs[at] = if sizes[at] == sizes[at + distance] { runs[at + 1] + 1 } else { 0 };
        }
        runs
    });
    EqualRuns(runs.collect())
}

#[cfg(test)]
mod tests {
    use super::{Parameters, without_copy};

    fn of(sizes: Vec<u64>) -> Parameters {
        Parameters { trained: sizes.clone(), sizes }
    }

    #[test]
    fn a_copy_of_a_model_is_left_out() {
        let model = [&[900, 3][..], &[3, 70, 9, 50].repeat(6), &[3, 900]].concat();
        assert_eq!(without_copy(&model.repeat(2)), 0..model.len());
        assert_eq!(without_copy(&[&model.repeat(2)[..], &[7]].concat()), 0..model.len());
        assert_eq!(without_copy(&model), 0..model.len());
    }

    #[test]
    fn blocks_are_what_repeats_most() {
        // A table, two norms, six blocks that begin with two of them, and such a norm again.
        let block = [3, 3, 70, 9, 50];
        let sizes = [[900].as_slice(), &[3, 3], &block.repeat(6), &[3, 3, 900]].concat();
        let parameters = of(sizes);
        let blocks = parameters.blocks();
        assert_eq!(blocks.len(), 1, "{parameters:?}");
        assert_eq!((blocks[0].period, blocks[0].count()), (5, 6));
        // Those of an encoder, and larger ones of a decoder.
        let other = [3, 3, 70, 9, 50, 70, 9];
        let parameters = of([&[900], &block.repeat(4)[..], &[5], &other.repeat(4)[..]].concat());
        let counts: Vec<(usize, usize)> =
            parameters.blocks().iter().map(|region| (region.period, region.count())).collect();
        assert_eq!(counts, [(5, 4), (7, 4)]);
        // Equal sizes alone show no blocks.
        assert!(of(vec![8; 40]).blocks().is_empty());
    }
}
