//! Which blocks are checkpointed, and what they compute a second time.

/// A checkpoint that keeps the results of products with weights. Those of attention are scores, which are large.
const KEEPING_PRODUCTS: &str = "\
import functools
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
aten = torch.ops.aten
saved = [aten.mm.default, aten.addmm.default, aten.convolution.default]
keep = functools.partial(create_selective_checkpoint_contexts, saved)
x = checkpoint(block, x, use_reentrant=False, context_fn=keep)";

/// Which blocks are checkpointed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen {
    All,
    /// All of them, but the results of their products are kept.
    AllButProducts,
    EverySecond,
    /// The one that keeps most. Of equal ones, the first: what it keeps is in the way of all others.
    Largest,
    /// As many from the first on.
    First(usize),
}

impl Chosen {
    /// How many of so many blocks they are.
    pub(super) fn blocks(self, count: usize) -> usize {
        match self {
            Self::All | Self::AllButProducts => count,
            Self::EverySecond => count.div_ceil(2),
            Self::Largest => 1,
            Self::First(few) => few,
        }
    }

    /// What to write in place of `x = block(x)`.
    pub(super) fn code(self) -> String {
        let call = "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)";
        match self {
            Self::First(few) => format!("x = {call} if index < {few} else block(x)  # of enumerate(blocks)"),
            Self::All | Self::EverySecond | Self::Largest => format!("x = {call}"),
            Self::AllButProducts => KEEPING_PRODUCTS.to_owned(),
        }
    }

    /// Which of the blocks of a pass they are, given what each keeps in bytes.
    pub(super) fn of_pass(self, kept: &[u64]) -> Vec<bool> {
        let largest = (0..kept.len()).rev().max_by_key(|&index| kept[index]);
        let is_chosen = |index: usize| match self {
            Self::All | Self::AllButProducts => true,
            Self::EverySecond => index.is_multiple_of(2),
            Self::Largest => Some(index) == largest,
            Self::First(few) => index < few,
        };
        (0..kept.len()).map(is_chosen).collect()
    }
}

/// What blocks compute again, as shares of what all passes compute.
#[derive(Debug, Default)]
pub(super) struct Again {
    /// That of the first block of each pass, of the second, and so on.
    by_index: Vec<f64>,
    /// That of the largest block of each pass.
    largest: f64,
}

impl Again {
    /// Add a pass: of each block what it keeps in bytes, and its share.
    pub(super) fn add(&mut self, blocks: &[(u64, f64)]) {
        let kept: Vec<u64> = blocks.iter().map(|block| block.0).collect();
        if self.by_index.len() < blocks.len() {
            self.by_index.resize(blocks.len(), 0.0);
        }
        let is_largest = Chosen::Largest.of_pass(&kept);
        for ((&(_, share), is_largest), sum) in blocks.iter().zip(is_largest).zip(&mut self.by_index) {
            *sum += share;
            self.largest += if is_largest { share } else { 0.0 };
        }
    }

    /// That of chosen blocks; `None` if it is not known.
    pub(super) fn share(&self, chosen: Chosen) -> Option<f64> {
        let share = match chosen {
            Chosen::All | Chosen::AllButProducts => self.by_index.iter().sum(),
            Chosen::EverySecond => self.by_index.iter().step_by(2).sum(),
            Chosen::Largest => self.largest,
            Chosen::First(few) => self.by_index.iter().take(few).sum(),
        };
        (0.0 < share).then_some(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_blocks_have_their_shares() {
        let mut again = Again::default();
        assert_eq!(again.share(Chosen::All), None);
        again.add(&[(3, 0.25), (5, 0.125), (5, 0.0625)]);
        again.add(&[(3, 0.25)]);
        let shares = [Chosen::All, Chosen::EverySecond, Chosen::Largest, Chosen::First(2)];
        let shares = shares.map(|chosen| again.share(chosen));
        assert_eq!(shares, [0.6875, 0.5625, 0.375, 0.625].map(Some));
    }
}
