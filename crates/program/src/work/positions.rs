//! At how many positions a product multiplies by its weight.

/// A layer has at most so many times as many outputs as inputs, or the other way round, unless something tells otherwise.
const WIDER: u64 = 16;

/// Each output of a convolution mostly has so many weights for each input.
const KERNEL: u64 = 9;

/// The elements of a product's result, and of its weight.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elements {
    pub(super) result: u64,
    pub(super) weight: u64,
}

impl Elements {
    /// How many rows the weight has if the result has some positions.
    pub(super) fn rows_at(self, positions: Option<u64>) -> Option<u64> {
        let positions = positions.filter(|&positions| self.result.is_multiple_of(positions))?;
        self.result.checked_div(positions)
    }

    /// The positions of the result, given the elements of what is multiplied.
    pub(super) fn positions_of(self, input: u64) -> Option<u64> {
        let square = u128::from(input) * u128::from(self.result) / u128::from(self.weight.max(1));
        let root = u64::try_from(square.isqrt()).ok()?;
        let rows = self.rows_at(Some(root).filter(|&root| 0 < root))?;
        let is_whole = self.weight.checked_rem(rows) == Some(0) && self.weight / rows * root == input;
        is_whole.then_some(root)
    }

    /// The positions of the result, given what may be the rows of its weight, what most tells first. `is_there` says whether something
    /// has as many elements: what is multiplied, if it is no convolution.
    pub(super) fn positions(
        self,
        rows: impl Iterator<Item = u64>,
        is_there: impl Fn(u64) -> bool,
    ) -> Option<u64> {
        let fits = |&rows: &u64| {
            0 < rows
                && rows < self.weight
                && self.weight.is_multiple_of(rows)
                && self.result.is_multiple_of(rows)
        };
        let fitting: Vec<u64> = rows.filter(fits).collect();
        let columns = |rows: u64| self.weight / rows;
        let has_input = |&&rows: &&u64| is_there((self.result / rows).saturating_mul(columns(rows)));
        let is_likely = |&&rows: &&u64| {
            rows <= columns(rows).saturating_mul(WIDER)
                && columns(rows) <= rows.saturating_mul(WIDER * KERNEL)
        };
        let rows = fitting.iter().find(has_input).or_else(|| fitting.iter().find(is_likely));
        rows.map(|rows| self.result / rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_multiplied_tells_the_rows() {
        let elements = Elements { result: 100 * 64, weight: 64 * 16 };
        let of = |rows: &[u64], there: u64| elements.positions(rows.iter().copied(), |found| found == there);
        // Rows of 16 would have inputs of 64.
        assert_eq!(of(&[16, 64], 100 * 16), Some(100));
        assert_eq!(of(&[16, 64], 400 * 64), Some(400));
        // Of a convolution nothing does; then the first of what is likely counts.
        assert_eq!(of(&[1024, 1, 64, 16], 0), Some(100));
        assert_eq!(of(&[48], 0), None);
        assert_eq!((elements.positions_of(1600), elements.positions_of(4800)), (Some(100), None));
        assert_eq!((elements.rows_at(Some(100)), elements.rows_at(Some(7))), (Some(64), None));
    }
}
