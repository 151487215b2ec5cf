//! Where axes have marks, and what they say.

use crate::units;

/// A mark on an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Where, in the axis's own unit.
    pub at: f64,
    /// What to write there.
    pub label: String,
}

/// Marks at round binary sizes from `low` to `high`, at most about `most`.
pub fn byte_ticks(low: f64, high: f64, most: usize) -> Vec<Tick> {
    let step = (((high - low) / most.max(1) as f64).max(1.0)).log2().ceil().exp2();
    multiples(low, high, step)
        .map(|at| Tick { at, label: units::bytes_at_step(at as i64, step as i64) })
        .collect()
}

/// Marks at round event numbers for moments from `low` to `high`, at most about `most`. The state
/// after event `e` is the moment `e + 1`.
pub fn event_ticks(low: f64, high: f64, most: usize) -> Vec<Tick> {
    let rough = ((high - low) / most.max(1) as f64).max(1.0);
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|n| n * power)
        .into_iter()
        .find(|&step| rough <= step)
        .unwrap_or(power * 10.0);
    let events = multiples((low - 1.0).max(0.0), high - 1.0, step);
    let inside = events.filter(|event| event + 1.0 < high);
    inside.map(|event| Tick { at: event + 1.0, label: units::count(event as i64) }).collect()
}

fn multiples(low: f64, high: f64, step: f64) -> impl Iterator<Item = f64> {
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(move |i| i as f64 * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn sizes_are_marked_at_powers_of_two() {
        let gib = f64::from(1 << 30);
        assert_eq!(labels(&byte_ticks(0.0, 4.2 * gib, 6)), ["0 B", "1 GiB", "2 GiB", "3 GiB", "4 GiB"]);
        assert_eq!(
            labels(&byte_ticks(0.0, 1.1 * gib, 5)),
            ["0 B", "256 MiB", "512 MiB", "768 MiB", "1.00 GiB"]
        );
    }

    #[test]
    fn neighbouring_marks_read_differently() {
        let base = 2.63 * f64::from(1 << 30);
        let ticks = byte_ticks(base, base + 20_000.0, 8);
        let mut unique = labels(&ticks);
        unique.dedup();
        assert!(3 < ticks.len());
        assert_eq!(unique.len(), ticks.len());
    }

    #[test]
    fn events_are_marked_at_round_numbers() {
        let ticks = event_ticks(0.0, 2502.0, 6);
        assert_eq!(labels(&ticks), ["0", "500", "1,000", "1,500", "2,000", "2,500"]);
        assert_eq!(ticks[1].at, 501.0);
        assert_eq!(labels(&event_ticks(10.2, 13.9, 8)), ["10", "11", "12"]);
    }
}
