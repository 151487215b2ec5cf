//! Keys and values that inference keeps, where no stack shows them: two blocks for each layer.

use super::{Blocks, Category, Claims, RuleId, Verdict};
use crate::model::AllocId;
use std::collections::BTreeMap;

/// Smaller blocks are no keys or values of a cache worth mentioning.
const MIN_BYTES: i64 = 4 << 10;

/// Fewer layers make pairs by chance.
const MIN_LAYERS: usize = 4;

/// Of what a model without training holds besides its parameters, most is equal blocks, two for each layer; while they
/// grow, some have another size already. `parameters` are the numbers of parameters of each size.
pub(super) fn find(rest: &[(AllocId, i64)], parameters: &[usize], claims: &mut Claims) {
    let mut by_size: BTreeMap<i64, usize> = BTreeMap::new();
    for &(_, size) in rest {
        *by_size.entry(size).or_default() += 1;
    }
    let bytes = |(size, count): (&i64, &usize)| size.max(&0).saturating_mul(*count as i64);
    let total = by_size.iter().map(bytes).fold(0, i64::saturating_add);
    let mut sizes: Vec<(i64, i64, usize)> =
        by_size.iter().map(|(size, count)| (bytes((size, count)), *size, *count)).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    for taken in 1..=2.min(sizes.len()) {
        let of = sizes.get(..taken).unwrap_or_default();
        let (held, count) =
            of.iter().fold((0i64, 0), |(held, count), size| (held.saturating_add(size.0), count + size.2));
        let layers = count / 2;
        let has_layers =
            MIN_LAYERS <= layers && parameters.iter().any(|count| 0 < *count && count.is_multiple_of(layers));
        let alike = of.iter().all(|size| {
            sizes.first().is_some_and(|first| first.1.abs_diff(size.1) <= size.1.unsigned_abs() / 2)
        });
        let is_most = alike && total / 10 * 9 <= held && of.iter().all(|size| MIN_BYTES <= size.1);
        if is_most && has_layers {
            let blocks = Blocks { alike: count, known: count, known_as: Category::KvCache };
            for (id, size) in rest.iter().filter(|(_, size)| of.iter().any(|taken| taken.1 == *size)) {
                claims.claim_of(*id, Verdict::new(Category::KvCache, RuleId::TwoForEachLayer), *size, blocks);
            }
            return;
        }
    }
}
