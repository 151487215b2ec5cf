//! Figures of a recording that say how far they can be trusted.

use super::{Bytes, Moment, Timeline, Trust};
use serde::{Deserialize, Serialize};

/// An amount as a recording has it, with how far it can be trusted.
///
/// It is no number and has no text of its own: what cannot be known can be neither added to something nor printed by accident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedBytes {
    /// What the recording has, known or not: for documents that state the trust beside it, and for curves.
    pub recorded: Bytes,
    /// How far that can be trusted.
    pub trust: Trust,
}

impl TrustedBytes {
    /// An amount that is trusted so far.
    pub fn new(recorded: Bytes, trust: Trust) -> Self {
        Self { recorded, trust }
    }

    /// The amount if it follows from the file.
    pub fn known(self) -> Option<Bytes> {
        self.trust.is_known().then_some(self.recorded)
    }

    /// What the amount is at least, unless the file does not tell.
    pub fn at_least(self) -> Option<Bytes> {
        (!matches!(self.trust, Trust::Unknown(_))).then_some(self.recorded)
    }

    /// The amount in words, as far as it is known: `1.80 GiB`, `at least 1.80 GiB` or `not known`.
    pub fn written(self, amount: impl FnOnce(Bytes) -> String) -> String {
        match self.trust {
            Trust::Known => amount(self.recorded),
            Trust::AtLeast(_) => format!("at least {}", amount(self.recorded)),
            Trust::Unknown(_) => "not known".to_owned(),
        }
    }
}

/// What is written of a device.
impl Timeline {
    /// Bytes in use at a moment, waiting for another stream or not.
    pub fn active_at(&self, moment: Moment) -> TrustedBytes {
        TrustedBytes::new(self.active.at(moment), self.trust.in_use)
    }

    /// Bytes that the program holds at a moment.
    pub fn allocated_at(&self, moment: Moment) -> TrustedBytes {
        TrustedBytes::new(self.allocated.at(moment), self.trust.in_use)
    }

    /// Bytes reserved from the driver at a moment.
    pub fn reserved_at(&self, moment: Moment) -> TrustedBytes {
        TrustedBytes::new(self.reserved.at(moment), self.trust.reserved)
    }

    /// The most bytes in use, and the first moment with them.
    pub fn peak_active(&self) -> (Moment, TrustedBytes) {
        let (moment, bytes) = self.active.peak();
        (moment, TrustedBytes::new(bytes, self.trust.peak_in_use))
    }

    /// The most bytes that the program held, and the first moment with them.
    pub fn peak_allocated(&self) -> (Moment, TrustedBytes) {
        let (moment, bytes) = self.allocated.peak();
        (moment, TrustedBytes::new(bytes, self.trust.peak_in_use))
    }

    /// The most bytes reserved, and the first moment with them.
    pub fn peak_reserved(&self) -> (Moment, TrustedBytes) {
        let (moment, bytes) = self.reserved.peak();
        (moment, TrustedBytes::new(bytes, self.trust.peak_reserved))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Why;

    #[test]
    fn what_is_not_known_is_not_written() {
        let written = |trust| TrustedBytes::new(Bytes(7), trust).written(|bytes| bytes.0.to_string());
        assert_eq!(written(Trust::Known), "7");
        assert_eq!(written(Trust::AtLeast(Why::StartsLate)), "at least 7");
        assert_eq!(written(Trust::Unknown(Why::Contradicts)), "not known");
        assert_eq!(TrustedBytes::new(Bytes(7), Trust::Known).known(), Some(Bytes(7)));
        let damaged = TrustedBytes::new(Bytes(7), Trust::AtLeast(Why::Damaged));
        assert_eq!((damaged.known(), damaged.at_least()), (None, Some(Bytes(7))));
        assert_eq!(TrustedBytes::new(Bytes(7), Trust::Unknown(Why::Contradicts)).at_least(), None);
    }
}
