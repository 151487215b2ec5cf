//! What a change costs, in the terms of its user.

use std::str::FromStr;

/// What a change costs: in each step, and to write it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// What is computed a second time, as a share of the work of a step as it is: about, going by its products. What is not known
    /// counts as the most that it may be.
    pub more_work: f64,
    /// Whether that is known.
    pub is_work_known: bool,
    /// Passes in place of one. Each has as much less to compute.
    pub passes: u32,
    /// Bytes that cross the bus between device and host in a step.
    pub host_bytes: u64,
    /// Devices in place of one.
    pub devices: u32,
    /// Whether it computes other numbers, so that results have to be checked.
    pub other_numbers: bool,
    /// Lines to write.
    pub lines: u32,
}

impl Default for Price {
    fn default() -> Self {
        Self {
            more_work: 0.0,
            is_work_known: true,
            passes: 1,
            host_bytes: 0,
            devices: 1,
            other_numbers: false,
            lines: 0,
        }
    }
}

impl Price {
    /// Computing something a second time that has a share of a step's work.
    pub(super) fn of_work(more_work: f64) -> Self {
        Self { more_work, ..Self::default() }
    }

    /// The same with a share that is not known, and the most that it may be.
    pub(super) fn of_unknown_work(most: f64) -> Self {
        Self { is_work_known: false, ..Self::of_work(most) }
    }

    /// Whether anything crosses the bus: computing it again is mostly faster.
    pub fn crosses_bus(&self) -> bool {
        0 < self.host_bytes
    }

    /// The price of two changes at once.
    #[must_use]
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            more_work: self.more_work + other.more_work,
            is_work_known: self.is_work_known && other.is_work_known,
            passes: self.passes.saturating_mul(other.passes),
            host_bytes: self.host_bytes.saturating_add(other.host_bytes),
            devices: self.devices.saturating_mul(other.devices),
            other_numbers: self.other_numbers || other.other_numbers,
            lines: self.lines.saturating_add(other.lines),
        }
    }

    /// Whether it is at most as high in each step, or at most so many times as high in what is counted. In how many parts a pass runs
    /// is not: together, they compute the same.
    pub(super) fn is_within(&self, other: &Self, times: u32) -> bool {
        let times = f64::from(times);
        self.more_work <= other.more_work * times
            && self.host_bytes as f64 <= other.host_bytes as f64 * times
            && (1 < self.passes) <= (1 < other.passes)
            && self.devices <= other.devices
            && self.other_numbers <= other.other_numbers
    }
}

/// A kind of price that a user may be willing to pay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payment {
    /// Computing something a second time.
    Work,
    /// Computing other numbers: another optimizer, another type of numbers.
    Numbers,
    /// Memory of the host, and the way to it.
    Host,
    /// Further devices.
    Devices,
}

impl Payment {
    /// All of them, with their words.
    pub const ALL: [(&'static str, Self); 4] =
        [("work", Self::Work), ("numbers", Self::Numbers), ("host", Self::Host), ("devices", Self::Devices)];
}

impl FromStr for Payment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(word, _)| *word == text.trim());
        let words = || Self::ALL.map(|(word, _)| word).join(", ");
        found.map(|(_, payment)| payment).ok_or_else(|| format!("it is one of {}", words()))
    }
}

/// What a user is willing to pay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed(Vec<Payment>);

impl Default for Allowed {
    /// Everything.
    fn default() -> Self {
        Self(Payment::ALL.map(|(_, payment)| payment).to_vec())
    }
}

impl From<Vec<Payment>> for Allowed {
    fn from(payments: Vec<Payment>) -> Self {
        Self(payments)
    }
}

impl Allowed {
    /// Whether a price has nothing else in it. Smaller passes and lines are always paid.
    pub(super) fn covers(&self, price: &Price) -> bool {
        let asks = |payment: Payment| match payment {
            Payment::Work => 0.0 < price.more_work,
            Payment::Numbers => price.other_numbers,
            Payment::Host => price.crosses_bus(),
            Payment::Devices => 1 < price.devices,
        };
        Payment::ALL.into_iter().all(|(_, payment)| !asks(payment) || self.0.contains(&payment))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_add_up_and_compare_in_everything() {
        let blocks = Price { lines: 1, ..Price::of_work(0.17) };
        let batch = Price { passes: 2, lines: 1, ..Price::default() };
        let both = blocks.and(batch);
        assert_eq!((both.passes, both.lines), (2, 2));
        assert!(blocks.is_within(&both, 1) && batch.is_within(&both, 1));
        assert!(!blocks.is_within(&batch, 2) && !batch.is_within(&blocks, 2));
        let more = Price::of_work(0.3);
        assert!(more.is_within(&blocks, 2) && !more.is_within(&blocks, 1));
    }

    #[test]
    fn what_is_not_allowed_is_not_paid() {
        let only = |words: &str| {
            let payments: Result<Vec<Payment>, String> = words.split(',').map(str::parse).collect();
            payments.map(Allowed::from)
        };
        let work = Price::of_work(0.03);
        let numbers = Price { other_numbers: true, ..Price::default() };
        let allowed = only("work,host").expect("these are words");
        assert!(allowed.covers(&work) && !allowed.covers(&numbers));
        assert!(Allowed::default().covers(&work.and(numbers)));
        assert_eq!(only("time"), Err("it is one of work, numbers, host, devices".to_owned()));
    }
}
