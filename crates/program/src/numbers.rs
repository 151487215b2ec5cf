//! Numbers of things of a kind from which on they mean something.

/// Fewer may be there by chance, or for another reason.
pub const SEVERAL: usize = 3;

/// Fewer may be the parts of one thing, or what a program sets up: so many come from a loop, or from most of a model.
pub const MANY: usize = 8;

/// Of ratios with the bytes that have them, the one that half of the bytes have at most; 1 of none.
pub fn weighted_median(mut ratios: Vec<(f64, u64)>) -> f64 {
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: u128 = ratios.iter().map(|&(_, bytes)| u128::from(bytes)).sum();
    let mut sum = 0u128;
    let middle = ratios.iter().find(|&&(_, bytes)| {
        sum += u128::from(bytes);
        all <= 2 * sum
    });
    middle.map_or(1.0, |&(ratio, _)| ratio)
}
