//! What a change costs, in words.

use oomscope_remedies::Price;
use oomscope_units as units;
use serde::Serialize;

/// A price as JSON.
#[derive(Serialize)]
pub(super) struct PriceRecord {
    more_work: Option<f64>,
    most_work: f64,
    passes: u32,
    host_bytes: u64,
    devices: u32,
    other_numbers: bool,
    lines: u32,
}

impl From<Price> for PriceRecord {
    fn from(price: Price) -> Self {
        let Price { more_work, is_work_known, passes, host_bytes, devices, other_numbers, lines } = price;
        let (most_work, more_work) = (more_work, is_work_known.then_some(more_work));
        Self { more_work, most_work, passes, host_bytes, devices, other_numbers, lines }
    }
}

/// The price of what costs nothing.
pub const NO_PRICE: &str = "-";

/// What a change costs in each step, in a few words: `about 14 % more work, other numbers`; [`NO_PRICE`] for nothing. How many lines it takes
/// to write is left out, since these are shown.
pub fn price_text(price: &Price) -> String {
    let mut parts = Vec::new();
    if 0.0 < price.more_work {
        let how = if price.is_work_known { "about" } else { "at most" };
        parts.push(format!("{how} {:.0} % more work", price.more_work * 100.0));
    }
    if 1 < price.passes {
        parts.push(format!("{} passes for 1", price.passes));
    }
    if price.other_numbers {
        parts.push("other numbers".to_owned());
    }
    if 0 < price.host_bytes {
        let bytes = i64::try_from(price.host_bytes).unwrap_or(i64::MAX);
        parts.push(format!("{} over the bus", units::bytes(bytes)));
    }
    if 1 < price.devices {
        parts.push(format!("{} devices", price.devices));
    }
    if parts.is_empty() { NO_PRICE.to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_names_what_it_has() {
        let price = Price { more_work: 0.139, other_numbers: true, ..Price::default() };
        assert_eq!(price_text(&price), "about 14 % more work, other numbers");
        let price = Price { passes: 4, host_bytes: 3 << 30, devices: 2, ..Price::default() };
        assert_eq!(price_text(&price), "4 passes for 1, 3.00 GiB over the bus, 2 devices");
        let price = Price { more_work: 0.333, is_work_known: false, ..Price::default() };
        assert_eq!(price_text(&price), "at most 33 % more work");
        assert_eq!(price_text(&Price::default()), "-");
    }
}
