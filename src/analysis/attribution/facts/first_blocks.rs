//! Where parameters end in a recording without stacks: with the first block that was of use for a while and goes.

/// A block that is gone within so many events is of no account.
const BRIEF_EVENTS: u32 = 4;

/// The same, where the first of so many blocks go: scratch memory of models that are made on the device.
const SCRATCH_EVENTS: u32 = 12;
const MIN_BEFORE: usize = 8;

/// A forward pass makes at least one temporary for so many blocks.
const MOST_KEPT: usize = 7;

/// How many of the first blocks are parameters, or scratch memory for them. `lives` says for how many events each
/// block lives, in the order in which they are made; `None` for ever.
pub(in crate::analysis) fn parameters(lives: impl Iterator<Item = Option<u32>> + Clone) -> usize {
    let goes = |brief: u32| lives.clone().position(|life| life.is_some_and(|life| brief <= life));
    let Some(first) = goes(0) else { return lives.count() };
    let brief = if first < MIN_BEFORE { SCRATCH_EVENTS } else { BRIEF_EVENTS };
    let last = goes(brief + 1).unwrap_or_else(|| lives.clone().count());
    // A forward pass makes temporaries all along.
    let temporaries = lives.clone().take(last).skip(first).flatten().count();
    let is_forward = MIN_BEFORE <= first && last - first <= temporaries.saturating_mul(MOST_KEPT);
    if is_forward { first } else { last }
}

#[cfg(test)]
mod tests {
    use super::parameters;

    fn count(lives: &[Option<u32>]) -> usize {
        parameters(lives.iter().copied())
    }

    #[test]
    fn all_stay_where_nothing_goes() {
        assert_eq!(count(&[]), 0);
        assert_eq!(count(&[None; 5]), 5);
    }

    #[test]
    fn the_first_that_goes_after_a_while_is_none() {
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
