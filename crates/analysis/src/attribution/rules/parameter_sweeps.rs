//! Lines of the program's own that go through the parameters: each makes blocks of the same sizes in the same order, again and
//! again. Where nothing computes gradients, these show how many parameters there are of each size.

use super::function_blocks::{Fate, function_blocks};
use crate::attribution::thresholds::MIN_AGREEING;
use crate::attribution::view::{BlocksBySize, CountBySize, View};
use oomscope_model::{Bytes, StackId};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The parameters of each size, as the sweep shows that has most sizes, and passes through each of them least often. The old
/// blocks have to be as many, or the same multiple of that for every size: other lines repeat batches.
pub(super) fn swept_parameters(view: &View<'_>, old: &BlocksBySize) -> CountBySize {
    if old.is_empty() || view.device.has_backward() {
        return CountBySize::default();
    }
    let mut lines: BTreeMap<StackId, Vec<Bytes>> = BTreeMap::new();
    for block in function_blocks(view) {
        let size = view.size(block.id);
        if block.fate != Fate::Scratch || old.contains_key(&size) {
            lines.entry(view.stack(block.id)).or_default().push(size);
        }
    }
    let sweeps = lines.values().filter_map(|sizes| sweep(sizes)).filter(|sweep| is_part_of(sweep, old));
    sweeps.max_by_key(|sweep| (sweep.len(), Reverse(sweep.values().sum::<usize>()))).unwrap_or_default()
}

/// What a line makes each time, if that is the same, and of several sizes.
fn sweep(sizes: &[Bytes]) -> Option<CountBySize> {
    let period = period(sizes);
    let mut out = CountBySize::default();
    for &size in sizes.get(..period)? {
        *out.entry(size).or_default() += 1;
    }
    (2 * period <= sizes.len() && MIN_AGREEING <= out.len()).then_some(out)
}

/// The length after which a sequence repeats itself.
fn period(sizes: &[Bytes]) -> usize {
    // Of each beginning, the longest part of it that it also ends with.
    let mut borders = vec![0usize; sizes.len()];
    let mut length = 0;
    for at in 1..sizes.len() {
        while 0 < length && sizes[at] != sizes[length] {
            length = borders[length - 1];
        }
        length += usize::from(sizes[at] == sizes[length]);
        borders[at] = length;
    }
    sizes.len() - length
}

fn is_part_of(sweep: &CountBySize, old: &BlocksBySize) -> bool {
    let mut times = None;
    sweep.iter().all(|(size, &count)| {
        let blocks = old.get(size).map_or(0, Vec::len);
        0 < blocks && blocks.is_multiple_of(count) && *times.get_or_insert(blocks / count) == blocks / count
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_repeats_itself_is_a_sweep() {
        let of = |sizes: &[i64]| {
            sweep(&sizes.iter().copied().map(Bytes).collect::<Vec<_>>())
                .map(|sweep| sweep.values().sum::<usize>())
        };
        assert_eq!(of(&[4, 2, 2, 1, 4, 2, 2, 1, 4]), Some(4));
        assert_eq!(of(&[4, 2, 1, 4, 2, 2]), None, "it makes something else the second time");
        assert_eq!(of(&[4, 2, 1]), None, "it does not repeat");
        assert_eq!(of(&[4, 2, 4, 2]), None, "few sizes agree by chance");
        assert_eq!(of(&[]), None);
    }
}
