//! In how many parts a batch can be computed.

use oomscope_model::Bytes;
use oomscope_program::BatchSize;

/// Parts of a batch, at most, where nothing shows how many samples it has.
const MOST_OF_UNKNOWN: u32 = 8;

/// Parts of a batch, at most: more passes for a step are rare.
const MOST: u32 = 256;

/// A batch in parts, of which all but the last are as large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts {
    /// How many there are.
    pub(super) count: u32,
    /// The samples of the largest part and of the whole batch, where they are known.
    samples: Option<(u32, u32)>,
}

impl Parts {
    /// So many parts of a batch; `None` if it has fewer samples.
    pub(super) fn of(batch: BatchSize, count: u32) -> Option<Self> {
        let samples = match batch {
            BatchSize::Samples(all) => Some((all.div_ceil(count), all)),
            _ => None,
        };
        (batch.has_at_least(count) != Some(false)).then_some(Self { count, samples })
    }

    /// All that differ, from two parts on to single samples: of those with parts of the same size, the fewest. Where nothing shows how
    /// many samples there are, those in which what the batch makes can be divided: of parts as large, it is a multiple.
    pub(super) fn all(batch: BatchSize, bytes_of_batch: &[Bytes]) -> Vec<Self> {
        // Numbers have 1, 2, 4 or 8 bytes.
        let is_divided = |count: u32| {
            let odd = i64::from(count >> count.trailing_zeros());
            bytes_of_batch.iter().all(|bytes| bytes.0 % odd == 0)
        };
        if let BatchSize::Samples(all) = batch {
            let mut found: Vec<Self> =
                (2..=all.min(MOST)).filter_map(|count| Self::of(batch, count)).collect();
            found.dedup_by_key(|parts| parts.samples);
            return found;
        }
        let counts = (2..=MOST_OF_UNKNOWN).filter(|&count| is_divided(count));
        counts.filter_map(|count| Self::of(batch, count)).collect()
    }

    /// What the batch must be where nothing shows how many samples it has.
    pub(super) fn condition(self) -> String {
        if self.count.is_power_of_two() {
            return format!(", if it has at least {} samples", self.count);
        }
        format!(", if its number of samples can be divided by {}", self.count)
    }

    /// The largest part as a share of the batch.
    pub(super) fn share(self) -> f64 {
        self.samples.map_or(1.0 / f64::from(self.count), |(part, all)| f64::from(part) / f64::from(all))
    }

    /// The samples of the largest part and of the batch, where the last part has fewer.
    fn uneven(self) -> Option<(u32, u32)> {
        self.samples.filter(|(part, all)| part * self.count != *all)
    }

    /// What is computed at a time: `a third of the batch`, `6 of 16 samples`.
    pub(super) fn words(self) -> String {
        if let Some((part, all)) = self.uneven() {
            return format!("{part} of {all} samples");
        }
        let share = match self.count {
            2 => "half",
            3 => "a third of",
            4 => "a quarter of",
            5 => "a fifth of",
            6 => "a sixth of",
            7 => "a seventh of",
            8 => "an eighth of",
            count => return format!("1/{count} of the batch"),
        };
        format!("{share} the batch")
    }

    /// A step of training by parts, each of which counts by its samples.
    pub(super) fn code(self) -> String {
        let count = self.count;
        match self.uneven() {
            Some((part, all)) => format!(
                "(loss_fn(model(x), y) * (len(x) / {all})).backward()  # batch_size = {part}, a step after every {count}"
            ),
            None => format!(
                "(loss_fn(model(x), y) / {count}).backward()  # batch_size // {count}, a step after every {count}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_go_down_to_single_samples() {
        let counts = |batch| {
            let all = Parts::all(batch, &[Bytes(96), Bytes(192)]);
            all.iter().map(|parts| parts.count).collect::<Vec<u32>>()
        };
        // Parts of 8, 6, 4, 3, 2 and 1 samples: five parts are no smaller than four.
        assert_eq!(counts(BatchSize::Samples(16)), [2, 3, 4, 6, 8, 16]);
        assert_eq!(counts(BatchSize::Samples(2)), [2]);
        // 96 bytes are no five or seven parts of the same size.
        assert_eq!(counts(BatchSize::Unknown), [2, 3, 4, 6, 8]);
        assert!(counts(BatchSize::One).is_empty());
    }

    #[test]
    fn the_largest_part_counts() {
        let of = |count| Parts::of(BatchSize::Samples(16), count).expect("it has as many samples");
        assert_eq!((of(3).share(), of(3).words()), (6.0 / 16.0, "6 of 16 samples".to_owned()));
        assert_eq!((of(4).share(), of(4).words()), (0.25, "a quarter of the batch".to_owned()));
        assert!(of(3).code().contains("* (len(x) / 16)") && of(16).words().starts_with("1/16 of"));
        assert_eq!(Parts::of(BatchSize::Samples(16), 17), None);
    }
}
