//! Shares of a whole, and those that separate one conclusion from another.
//!
//! A threshold about a part of something is one of the shares that are named here, so that the same words mean the same
//! everywhere.

use oomscope_model::Bytes;

/// The share that `part` is of `whole`, from 0 to 1; 0 if the whole is nothing.
pub fn share(part: Bytes, whole: Bytes) -> f64 {
    if whole <= 0 { 0.0 } else { part.as_f64() / whole.as_f64() }
}

/// A share in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    percent: u8,
}

/// What is less is lost in the rest, even if it grows.
pub const TRACE: Share = Share::percent(2);

/// What nothing needs is worth a word from here on.
pub const WORTH: Share = Share::percent(5);

/// What every program has some of, such as holes, state or older memory, is worth a word from here on.
pub const NOTABLE: Share = Share::percent(10);

/// A good part: it is worth doing something about, and too much to be there by chance.
pub const MUCH: Share = Share::percent(25);

/// What has this share decides what the whole is.
pub const MOST: Share = Share::percent(50);

/// The rest is what other things leave or take beside it.
pub const NEARLY_ALL: Share = Share::percent(90);

/// Sizes that have this share of each other are the same but for rounding.
pub const SAME: Share = Share::percent(98);

impl Share {
    /// A share of a number of hundredths.
    pub const fn percent(percent: u8) -> Self {
        Self { percent }
    }

    /// Whether a part is more than this share of a whole.
    pub fn is_exceeded<N: TryInto<i128>>(self, part: N, whole: N) -> bool {
        let [part, whole] = [part, whole].map(|n| n.try_into().unwrap_or(i128::MAX / 100));
        whole.saturating_mul(self.percent.into()) < part.saturating_mul(100)
    }

    /// Whether a part is at least this share of a whole. Of nothing, nothing is.
    pub fn is_reached<N: TryInto<i128>>(self, part: N, whole: N) -> bool {
        let [part, whole] = [part, whole].map(|n| n.try_into().unwrap_or(i128::MAX / 100));
        0 < whole && whole.saturating_mul(self.percent.into()) <= part.saturating_mul(100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_reached_exactly_and_of_nothing_never() {
        assert!(MUCH.is_reached(25, 100) && !MUCH.is_reached(24, 100));
        assert!(MUCH.is_reached(1usize, 4) && !MUCH.is_reached(0usize, 0));
        assert!(WORTH.is_reached(i64::MAX, i64::MAX) && !WORTH.is_reached(-1i64, 1));
        assert!(
            TRACE < WORTH
                && WORTH < NOTABLE
                && NOTABLE < MUCH
                && MUCH < MOST
                && MOST < NEARLY_ALL
                && NEARLY_ALL < SAME
        );
    }
}
