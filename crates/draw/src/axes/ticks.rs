//! Positions and labels of the marks on axes.

use oomscope_units as units;

/// A mark on an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Its place, in the unit of the axis.
    pub at: f64,
    /// Its text.
    pub label: String,
}

/// Marks at round binary sizes from `low` to `high` bytes, about `most` of them at most.
pub fn byte_ticks(low: f64, high: f64, most: usize) -> Vec<Tick> {
    let step = (((high - low) / most.max(1) as f64).max(1.0)).log2().ceil().exp2();
    let places: Vec<f64> = multiples(low, high, step).collect();
    let most = places.last().copied().unwrap_or_default() as i64;
    let label = |at: f64| units::bytes_on_axis(at as i64, step as i64, most);
    places.into_iter().map(|at| Tick { at, label: label(at) }).collect()
}

/// Marks at round event numbers for moments from `low` to `high`, about `most` of them at most. The mark
/// of event `e` is at the moment after it, `e + 1`.
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

/// Marks at round times from `low_us` to `high_us`, about `most` of them at most.
pub fn time_ticks(low_us: f64, high_us: f64, most: usize) -> Vec<Tick> {
    const STEPS_US: [f64; 13] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4];
    const LONG_STEPS_S: [f64; 17] = [
        0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0,
        7200.0,
    ];
    let rough = (high_us - low_us) / most.max(1) as f64;
    let steps = STEPS_US.into_iter().chain(LONG_STEPS_S.map(|seconds| seconds * 1e6));
    let day = 86_400e6;
    let step = steps.into_iter().find(|&step| rough <= step).unwrap_or((rough / day).ceil() * day);
    let label = |at: f64| units::time_at_step(at as i64, step as i64);
    multiples(low_us, high_us, step).map(|at| Tick { at, label: label(at) }).collect()
}

/// The multiples of `step` from `low` to `high`.
fn multiples(low: f64, high: f64, step: f64) -> impl Iterator<Item = f64> {
    // Products of whole numbers, since repeated sums would drift.
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
        assert_eq!(labels(&byte_ticks(0.0, 4.2 * gib, 6)), ["0", "1 GiB", "2 GiB", "3 GiB", "4 GiB"]);
        assert_eq!(
            labels(&byte_ticks(0.0, 1.1 * gib, 5)),
            ["0", "0.25 GiB", "0.50 GiB", "0.75 GiB", "1.00 GiB"]
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
    fn times_are_marked_at_round_times() {
        assert_eq!(labels(&time_ticks(0.0, 3.1e6, 4)), ["0 s", "1 s", "2 s", "3 s"]);
        assert_eq!(labels(&time_ticks(1.5e6, 1.521e6, 3)), ["1.50 s", "1.51 s", "1.52 s"]);
        assert_eq!(labels(&time_ticks(10.0, 31.0, 3)), ["10 µs", "20 µs", "30 µs"]);
        assert_eq!(labels(&time_ticks(0.0, 7.3e9, 3)), ["0 s", "1:00:00", "2:00:00"]);
    }

    #[test]
    fn events_are_marked_at_round_numbers() {
        let ticks = event_ticks(0.0, 2502.0, 6);
        assert_eq!(labels(&ticks), ["0", "500", "1,000", "1,500", "2,000", "2,500"]);
        assert_eq!(ticks[1].at, 501.0);
        assert_eq!(labels(&event_ticks(10.2, 13.9, 8)), ["10", "11", "12"]);
    }
}
