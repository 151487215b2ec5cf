//! The most bytes that a program asks for at once: the running sum of its requests.

use oomscope_model::Moment;
use std::ops::Range;

/// The most bytes in use at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peak {
    /// Requested bytes of what is in use.
    pub bytes: u64,
    /// The first moment with that many.
    pub moment: Moment,
}

/// The most bytes in use at once in each of several stretches of a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profile {
    highest: Vec<u64>,
}

impl Profile {
    pub(crate) fn of(highest: Vec<u64>) -> Self {
        Self { highest }
    }

    /// The moments of one of so many stretches.
    pub(crate) fn range(stretch: usize, count: usize, moments: usize) -> Range<usize> {
        let start = |stretch: usize| (stretch * moments).div_ceil(count.max(1));
        start(stretch)..start(stretch + 1)
    }

    /// The highest of each stretch. They are equally long, but for rounding, and together all moments.
    pub fn highest(&self) -> &[u64] {
        &self.highest
    }

    /// The highest of all stretches.
    pub fn peak_bytes(&self) -> u64 {
        self.highest.iter().copied().max().unwrap_or(0)
    }

    /// The profile of this recorded program with several changes, if each saves what it saves alone.
    #[must_use]
    pub fn with_all<'p>(&self, alone: impl Iterator<Item = &'p Self>) -> Self {
        alone.fold(self.clone(), |sum, one| sum.with(one, self))
    }

    /// The profile of a program with two changes, if each saves what it saves alone.
    #[must_use]
    pub fn with(&self, other: &Self, recorded: &Self) -> Self {
        let both = self.highest.iter().zip(&other.highest).zip(&recorded.highest);
        let highest = both.map(|((&a, &b), &from)| a.saturating_add(b).saturating_sub(from)).collect();
        Self { highest }
    }
}
