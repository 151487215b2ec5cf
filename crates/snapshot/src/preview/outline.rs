//! The course of a total while its values are still coming.

use oomscope_model::Bytes;

/// The most steps of an outline: about one for each pixel of its width.
const MAX_STEPS: usize = 1024;

/// The lowest and highest level in each step of a total, in bytes, relative to where it began.
///
/// The snapshot's end state fixes the true level, and how far the end is from the beginning is known only when all events are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    steps: Vec<(Bytes, Bytes)>,
    changes_per_step: u64,
    changes: u64,
    level: Bytes,
}

impl Default for Outline {
    fn default() -> Self {
        Self { steps: Vec::new(), changes_per_step: 1, changes: 0, level: Bytes::ZERO }
    }
}

impl Outline {
    /// Lowest and highest level of each step, in bytes from the level at the beginning.
    pub fn steps(&self) -> &[(Bytes, Bytes)] {
        &self.steps
    }

    /// How many of its steps are filled: all, but for a part of the last one.
    pub fn filled_steps(&self) -> f64 {
        self.changes as f64 / self.changes_per_step as f64
    }

    /// Number of events so far.
    pub fn events(&self) -> u64 {
        self.changes
    }

    /// The level after the last event, in bytes from the level at the beginning.
    pub fn level(&self) -> Bytes {
        self.level
    }

    /// An event, which changes the total by so many bytes, or not.
    #[inline]
    pub(crate) fn push(&mut self, change_bytes: Bytes) {
        if self.changes.is_multiple_of(self.changes_per_step) {
            if self.steps.len() == MAX_STEPS {
                self.halve();
            }
            self.steps.push((self.level, self.level));
        }
        self.changes += 1;
        self.level += change_bytes;
        if let Some((low, high)) = self.steps.last_mut() {
            *low = (*low).min(self.level);
            *high = (*high).max(self.level);
        }
    }

    /// Make one step of every two.
    fn halve(&mut self) {
        self.steps =
            self.steps.chunks(2).map(|two| (two[0].0.min(two[1].0), two[0].1.max(two[1].1))).collect();
        self.changes_per_step *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The outline of all levels at once.
    fn naive(changes: &[Bytes]) -> Vec<(Bytes, Bytes)> {
        let mut levels = vec![Bytes::ZERO];
        levels.extend(changes.iter().scan(Bytes::ZERO, |level, &change| {
            *level += change;
            Some(*level)
        }));
        let mut per_step = 1;
        while MAX_STEPS < changes.len().div_ceil(per_step) {
            per_step *= 2;
        }
        let bounds = |from: usize| {
            let range = &levels[from..=(from + per_step).min(changes.len())];
            (range.iter().copied().min().unwrap_or_default(), range.iter().copied().max().unwrap_or_default())
        };
        (0..changes.len()).step_by(per_step).map(bounds).collect()
    }

    proptest! {
        #[test]
        fn it_is_the_outline_of_all_levels_so_far(
            changes in prop::collection::vec(prop_oneof![-9i64..9, Just(i64::MAX)].prop_map(Bytes), 0..5 * MAX_STEPS),
        ) {
            let mut outline = Outline::default();
            for &change in &changes {
                outline.push(change);
            }
            prop_assert_eq!(outline.steps(), naive(&changes));
            let filled = outline.filled_steps();
            prop_assert!(outline.steps().len() as f64 - 1.0 <= filled && filled <= outline.steps().len() as f64);
        }
    }
}
