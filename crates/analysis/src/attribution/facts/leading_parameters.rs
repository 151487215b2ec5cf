//! The end of the parameters in a recording without stacks: the first block that lives for a while and is then freed is
//! no longer one.

use crate::attribution::thresholds::MIN_TELLING_BLOCKS;

/// A block that is freed within this many events was scratch memory of the operation before it: it says nothing of the
/// blocks around it.
pub(crate) const SCRATCH_EVENTS: u32 = 4;

/// The same bound while a model is made on the device: scratch memory of initializers lives longer.
const INIT_SCRATCH_EVENTS: u32 = 12;

/// A forward pass makes at least one temporary for this many blocks that it keeps. Initializers make fewer.
const MAX_BLOCKS_PER_TEMPORARY: usize = 7;

/// How many of the first blocks are parameters, or scratch memory for them. `lives` has the number of events that each
/// block lives for, in the order in which the blocks are made; `None` if it is never freed.
pub(crate) fn leading_parameters(lives: impl Iterator<Item = Option<u32>> + Clone) -> usize {
    let first_with_life =
        |least: u32| lives.clone().position(|life| life.is_some_and(|events| least <= events));
    let Some(first_freed) = first_with_life(0) else { return lives.count() };
    // A model is being made on the device if one of so few first blocks is freed.
    let scratch_events = if first_freed < MIN_TELLING_BLOCKS { INIT_SCRATCH_EVENTS } else { SCRATCH_EVENTS };
    let end = first_with_life(scratch_events + 1).unwrap_or_else(|| lives.clone().count());
    // Temporaries all along are a forward pass that begins with the first of them.
    let temporaries = lives.clone().take(end).skip(first_freed).flatten().count();
    let is_forward = MIN_TELLING_BLOCKS <= first_freed
        && end - first_freed <= temporaries.saturating_mul(MAX_BLOCKS_PER_TEMPORARY);
    if is_forward { first_freed } else { end }
}

#[cfg(test)]
mod tests {
    use super::leading_parameters;

    fn count(lives: &[Option<u32>]) -> usize {
        leading_parameters(lives.iter().copied())
    }

    #[test]
    fn all_are_parameters_where_none_is_freed() {
        assert_eq!(count(&[]), 0);
        assert_eq!(count(&[None; 5]), 5);
    }

    #[test]
    fn the_first_block_that_is_freed_after_a_while_is_none() {
        assert_eq!(count(&[None, None, Some(40), None]), 2);
    }

    #[test]
    fn scratch_memory_for_parameters_does_not_end_them() {
        assert_eq!(count(&[Some(9), None, Some(2), None, None, Some(40)]), 5);
    }

    #[test]
    fn temporaries_all_along_are_a_forward() {
        let mut lives = vec![None; 10];
        lives.extend([Some(2), None, Some(3), None, Some(60)]);
        assert_eq!(count(&lives), 10);
        let mut lives = vec![None; 30];
        lives.insert(10, Some(2));
        lives.push(Some(60));
        assert_eq!(count(&lives), 31);
    }
}
