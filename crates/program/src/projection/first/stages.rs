//! The stages of a model whose blocks get wider, as those of networks for images do.
//!
//! Parameters tell the stages: blocks that are alike, and one before them that takes in what the stage before returned. Where blocks
//! are twice as wide, they are taken to have a quarter of the positions, as in nearly all such networks. A block of a stage that is
//! twice as wide keeps half as much, then.

use super::parameters::{Parameters, Region, width};
use crate::projection::course::Unprojected;
use crate::share::{MOST, MUCH};
use oomscope_model::SaturatingSum as _;

/// A bias has at most as many times the numbers of the most frequent parameter, which is that of a norm or a bias itself.
const MAX_BIAS: u64 = 8;

/// Between two stages lies no more than this many blocks of the second have: a first block, and what makes it wider.
const MAX_BETWEEN: u64 = 2;

/// Blocks that are alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModelStage {
    /// How many blocks come before it.
    pub(super) before: usize,
    /// How many it has.
    pub(super) count: usize,
    /// The bytes of the parameters of each.
    block_sizes: Vec<u64>,
}

impl ModelStage {
    /// How many times as much a block of it keeps as one of another.
    pub(super) fn kept_of(&self, other: &Self) -> f64 {
        other.width() as f64 / self.width() as f64
    }

    /// Whether it has a block, counted from 0.
    pub(super) fn has(&self, block: usize) -> bool {
        (self.before..self.before + self.count).contains(&block)
    }

    fn block_bytes(&self) -> u64 {
        self.block_sizes.iter().copied().saturating_sum()
    }

    fn width(&self) -> u64 {
        width(&self.block_sizes)
    }

    /// How many weights each block has.
    fn weights(&self) -> usize {
        let vector = self.width();
        let is_bias = |bytes: u64| bytes.is_multiple_of(vector) && bytes / vector <= MAX_BIAS;
        self.block_sizes.iter().filter(|&&bytes| vector < bytes && !is_bias(bytes)).count()
    }
}

/// The stages of a model, in order; none where its blocks are unlike in more than their width.
///
/// # Errors
/// Much of the model is in no stage.
pub(super) fn stages(parameters: &Parameters) -> Result<Vec<ModelStage>, Unprojected> {
    let blocks = parameters.blocks();
    let periods = || blocks.iter().map(|region| region.period);
    let (least, most) = (periods().min().unwrap_or(0), periods().max().unwrap_or(0));
    let (mut stages, mut end) = (Vec::<ModelStage>::new(), 0);
    for Region { range, period } in blocks {
        // A block that is unlike those after it has all that they have, and more.
        let stage = ModelStage {
            before: stages.last().map_or(0, |last| last.before + last.count),
            count: (range.start - end) / period + range.len() / period,
            block_sizes: parameters.sizes[range.start..range.start + period].to_vec(),
        };
        let between = parameters.bytes(end..range.start);
        if !stages.is_empty() && MAX_BETWEEN.saturating_mul(stage.block_bytes()) < between {
            // It is another model.
            return Ok(Vec::new());
        }
        stages.push(stage);
        end = range.end;
    }
    let get_wider = stages.windows(2).all(|pair| pair[0].width() < pair[1].width());
    if stages.len() < 2 || MUCH.is_exceeded(most - least, most) || !get_wider {
        return Ok(Vec::new());
    }
    let all = parameters.sizes.len();
    if MUCH.is_reached(parameters.bytes(end..all), parameters.bytes(0..all)) {
        return Err(Unprojected::OtherBlocks);
    }
    Ok(stages)
}

/// The same stages, with blocks as the program calls them, each of which computes a number of products: a block may have several of
/// what repeats among the parameters. `None` if they do not go together.
pub(super) fn per_round(stages: &[ModelStage], products: usize) -> Option<Vec<ModelStage>> {
    let weights = stages.iter().map(ModelStage::weights).max().filter(|&weights| weights != 0)?;
    let parts = if is_about(products as f64, weights as f64) { 1 } else { products / weights };
    let is_whole = parts == 1 || products.is_multiple_of(weights);
    if parts == 0 || !is_whole || stages.iter().any(|stage| !stage.count.is_multiple_of(parts)) {
        return None;
    }
    let whole = |stage: &ModelStage| ModelStage {
        before: stage.before / parts,
        count: stage.count / parts,
        block_sizes: stage.block_sizes.clone(),
    };
    Some(stages.iter().map(whole).collect())
}

/// Whether neither of two numbers is twice the other.
pub(super) fn is_about(one: f64, other: f64) -> bool {
    MOST.is_exceeded(one as i64, other as i64) && MOST.is_exceeded(other as i64, one as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of two weights with norms, as those of a residual network, the first of each stage with a third.
    fn network(counts: &[usize], widths: &[u64]) -> Parameters {
        let mut sizes = vec![37_632, 256, 256];
        let mut last = widths[0];
        for (&count, &width) in counts.iter().zip(widths) {
            for block in 0..count {
                let from = if block == 0 { last } else { width };
                sizes.extend([
                    36 * from * width,
                    4 * width,
                    4 * width,
                    36 * width * width,
                    4 * width,
                    4 * width,
                ]);
                if block == 0 && from != width {
                    sizes.extend([4 * from * width, 4 * width, 4 * width]);
                }
            }
            last = width;
        }
        Parameters { trained: sizes.clone(), sizes }
    }

    #[test]
    fn stages_have_their_first_blocks_too() {
        let found = stages(&network(&[3, 4, 6, 3], &[64, 128, 256, 512])).expect("they are stages");
        // Each of the two products of a block is one of what repeats.
        let blocks = per_round(&found, 2).expect("two make a block");
        let counts: Vec<(usize, usize)> = blocks.iter().map(|stage| (stage.before, stage.count)).collect();
        assert_eq!(counts, [(0, 3), (3, 4), (7, 6), (13, 3)]);
        assert_eq!(per_round(&found, 1), Some(found.clone()));
        assert_eq!(per_round(&found, 4), None);
        let factor = found[1].kept_of(&found[0]);
        assert!((0.49..0.51).contains(&factor), "{factor}");
        // Equal blocks twice, as those of a model and of its copy, are no stages.
        assert_eq!(stages(&network(&[4, 4], &[64, 64])), Ok(Vec::new()));
    }
}
