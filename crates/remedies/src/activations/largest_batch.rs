//! The largest batch that fits.

use super::batch::scale_batch;
use crate::outcome::{Figures, LargestBatch, Trust};
use crate::scene::Scene;
use oomscope_simulator::Program;

/// Factors from this to its inverse are searched: further from the recorded batch, kernels and their workspaces are others.
const MAX_FACTOR: f64 = 16.0;

/// The factor is found to this share of it.
const PRECISION: f64 = 0.01;

/// Fragmentation differs from batch to batch. If the batch that should fit does not, it is made smaller by this share, a few
/// times.
const STEP: f64 = 0.04;

/// The batch of training that fits into the device, as a factor of the recorded one; `None` without training or a limit, or
/// if none within reach fits. `baseline` is what the recorded program takes.
pub(crate) fn largest_batch(
    scene: &Scene<'_>,
    recorded: &Program<'_>,
    baseline: Figures,
) -> Option<LargestBatch> {
    let limit = scene.device.limit_bytes()?;
    scene.computation().spans.passes().next()?;
    let scaled = |factor: f64| {
        let mut program = recorded.clone();
        scale_batch(scene, &mut program, factor);
        program
    };
    // What the cache leaves unused grows with what is requested.
    let used = baseline.peak_requested as f64 / baseline.peak_reserved.max(1) as f64;
    let room = limit as f64 * used.min(1.0);
    let has_room = |factor: f64| scaled(factor).peak().bytes as f64 <= room;
    let fits = |factor: f64| {
        let outcome =
            scene.subject.simulate_program(&scaled(factor), scene.subject.recorded_settings(), &scene.device);
        outcome.fits()
    };
    let first = largest(1.0 / MAX_FACTOR, MAX_FACTOR, has_room)?;
    let factor = (0..4).map(|step| first * (1.0 - STEP * f64::from(step))).find(|&factor| fits(factor))?;
    let is_whole = scene.computation().spans.passes().all(|pass| pass.backward < pass.events.end);
    Some(LargestBatch {
        factor,
        is_more: MAX_FACTOR <= first,
        basis: if is_whole { Trust::Simulated } else { Trust::Bound },
    })
}

/// The largest number from `low` to `high` that is good, if smaller ones are better.
fn largest(mut low: f64, mut high: f64, is_good: impl Fn(f64) -> bool) -> Option<f64> {
    if is_good(high) {
        return Some(high);
    }
    if !is_good(low) {
        return None;
    }
    while low * (1.0 + PRECISION) < high {
        let middle = (low * high).sqrt();
        if is_good(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_number_is_found() {
        let near = |found: Option<f64>, wanted: f64| {
            found.is_some_and(|found| (found / wanted - 1.0).abs() <= PRECISION)
        };
        assert!(near(largest(0.1, 10.0, |x| x <= 1.7), 1.7));
        assert_eq!(largest(0.1, 10.0, |_| true), Some(10.0));
        assert_eq!(largest(0.1, 10.0, |_| false), None);
    }
}
