//! A column that costs nothing while it always holds the same value.

/// Values by row. Most files use one stream, one pool and no metadata: those columns stay one
/// value long.
#[derive(Debug, Clone)]
pub struct LazyColumn<T> {
    default: T,
    len: usize,
    /// Empty until a row differs from the first one.
    rows: Vec<T>,
}

impl<T: Copy + PartialEq> LazyColumn<T> {
    /// An empty column; `default` is only what [`get`](Self::get) returns out of range.
    pub fn new(default: T) -> Self {
        Self { default, len: 0, rows: Vec::new() }
    }

    /// Append a value.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.len == 0 {
            self.default = value;
        }
        if value != self.default && self.rows.is_empty() {
            self.rows = vec![self.default; self.len];
        }
        self.len += 1;
        if value != self.default || !self.rows.is_empty() {
            self.rows.push(value);
        }
    }

    /// The value of a row.
    #[inline]
    pub fn get(&self, row: usize) -> T {
        self.rows.get(row).copied().unwrap_or(self.default)
    }

    /// The one value of all rows, if there is only one.
    pub fn constant(&self) -> Option<T> {
        self.rows.is_empty().then_some(self.default)
    }

    /// The rows of a range as a column of their own.
    pub fn slice(&self, range: std::ops::Range<usize>) -> Self {
        let len = range.len();
        let rows = if self.rows.is_empty() { Vec::new() } else { self.rows[range].to_vec() };
        Self { default: self.default, len, rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_column_stores_no_rows() {
        let mut column = LazyColumn::new(0);
        for _ in 0..5 {
            column.push(7);
        }
        assert_eq!((column.constant(), column.get(3)), (Some(7), 7));
        assert!(column.rows.is_empty());
    }

    #[test]
    fn the_first_row_that_differs_makes_it_dense() {
        let mut column = LazyColumn::new(0);
        for value in [7, 7, 9, 7] {
            column.push(value);
        }
        let read: Vec<i32> = (0..4).map(|row| column.get(row)).collect();
        assert_eq!((read, column.constant()), (vec![7, 7, 9, 7], None));
        assert_eq!(column.slice(1..3).get(1), 9);
    }

    #[test]
    fn a_second_row_that_differs_from_the_first_is_kept() {
        let mut column = LazyColumn::new(0);
        column.push(1);
        column.push(2);
        assert_eq!((column.get(0), column.get(1)), (1, 2));
    }
}
