//! Columns that store the values of traces compactly.

use super::Bytes;

use foldhash::HashMap;
use std::hash::Hash;

/// Values by row, few of them different: streams, pools, metadata.
///
/// While all rows are equal, a column stores one value and no rows. With up to 256 different values a row
/// takes one byte, with more it takes four.
#[derive(Debug, Clone)]
pub struct CodedColumn<T> {
    /// The different values, in order of appearance.
    values: Vec<T>,
    lookup: HashMap<T, u32>,
    /// Index into `values` by row; empty while there is one value, and once there are more than 256.
    narrow: Vec<u8>,
    /// Index into `values` by row, once there are more than 256; else empty.
    wide: Vec<u32>,
    /// Number of rows.
    len: usize,
    /// Index into `values` of the last row.
    last_code: u32,
}

impl<T> Default for CodedColumn<T> {
    fn default() -> Self {
        let lookup = HashMap::default();
        Self { values: Vec::new(), lookup, narrow: Vec::new(), wide: Vec::new(), len: 0, last_code: 0 }
    }
}

impl<T: Copy + Eq + Hash> CodedColumn<T> {
    /// Append a value.
    #[inline]
    pub fn push(&mut self, value: T) {
        // Most rows equal the one before, and need no look-up.
        if self.values.get(self.last_code as usize) != Some(&value) {
            self.change(value);
        }
        self.len += 1;
        if !self.wide.is_empty() {
            self.wide.push(self.last_code);
        } else if !self.narrow.is_empty() {
            self.narrow.push(self.last_code as u8);
        }
    }

    /// Append all rows of another column.
    pub fn append(&mut self, other: &Self) {
        let codes: Vec<u32> = other.values.iter().map(|&value| self.code_of(value)).collect();
        let narrow: Option<Vec<u8>> = codes.iter().map(|&code| u8::try_from(code).ok()).collect();
        let rows = 0..other.len;
        match (narrow, self.wide.is_empty()) {
            (Some(codes), true) if self.values.len() <= 1 => {
                debug_assert!(codes.iter().all(|&code| code == 0), "one value has one code");
            }
            (Some(codes), true) => {
                // The second value may have come just now: every row so far has the first.
                self.narrow.resize(self.len, 0);
                match &other.narrow[..] {
                    [] => self.narrow.extend(rows.map(|row| codes[other.code(row) as usize])),
                    narrow => self.narrow.extend(narrow.iter().map(|&code| codes[usize::from(code)])),
                }
            }
            _ => {
                self.widen();
                self.wide.extend(rows.map(|row| codes[other.code(row) as usize]));
            }
        }
        self.len += other.len;
        if let Some(last) = other.len.checked_sub(1) {
            self.last_code = codes[other.code(last) as usize];
        }
    }

    /// Bytes of memory that the different values take, without the rows.
    pub(super) fn values_bytes(&self) -> usize {
        /// Bytes of an entry of the map besides its value, with the room that the map keeps free.
        const LOOKUP_BYTES: usize = 16;
        self.values.len() * (2 * size_of::<T>() + LOOKUP_BYTES)
    }

    /// The code of a value, which may be a new one.
    fn code_of(&mut self, value: T) -> u32 {
        let values = &mut self.values;
        *self.lookup.entry(value).or_insert_with(|| {
            values.push(value);
            values.len() as u32 - 1
        })
    }

    fn widen(&mut self) {
        if self.wide.is_empty() {
            self.narrow.resize(self.len, 0);
            self.wide = std::mem::take(&mut self.narrow).into_iter().map(u32::from).collect();
        }
    }

    /// Replace every value. `None` ends it, and leaves the column as it was. Values may become equal.
    pub fn rename(&mut self, renamed: impl Fn(T) -> Option<T>) -> Option<()> {
        self.values = self.values.iter().map(|&value| renamed(value)).collect::<Option<_>>()?;
        // Only rows are read from now on, or appended to another column.
        self.lookup.clear();
        Some(())
    }

    /// Switch to a value that differs from the last row's, and to wider rows if its code needs them.
    fn change(&mut self, value: T) {
        let code = self.code_of(value);
        let is_wide = !self.wide.is_empty();
        if u32::from(u8::MAX) < code && !is_wide {
            self.wide = std::mem::take(&mut self.narrow).into_iter().map(u32::from).collect();
        } else if code != 0 && !is_wide && self.narrow.is_empty() {
            // The second value: every row so far has the first.
            self.narrow = vec![0; self.len];
        }
        self.last_code = code;
    }

    /// The value of a row.
    ///
    /// # Panics
    ///
    /// If the column is empty. A row beyond the end panics in debug builds only.
    #[inline]
    pub fn get(&self, row: usize) -> T {
        self.values[self.code(row) as usize]
    }

    /// The value of a row as an index into [`distinct`](Self::distinct).
    #[inline]
    pub fn code(&self, row: usize) -> u32 {
        debug_assert!(row < self.len);
        match (self.narrow.get(row), self.wide.get(row)) {
            (Some(&code), _) => u32::from(code),
            (None, Some(&code)) => code,
            (None, None) => 0,
        }
    }

    /// Forget the rows from some row on. Values stay known, even those of no row that is left.
    pub(super) fn truncate(&mut self, rows: usize) {
        if rows == 0 {
            // Rows that are left say which of the vectors is in use.
            *self = Self::default();
            return;
        }
        self.len = self.len.min(rows);
        self.narrow.truncate(rows);
        self.wide.truncate(rows);
    }

    /// The different values, in order of appearance.
    pub fn distinct(&self) -> &[T] {
        &self.values
    }
}

/// Sizes in bytes, stored in four bytes each; the few that need more are kept aside.
#[derive(Debug, Default, Clone)]
pub(super) struct SizeColumn {
    /// [`LARGE`](Self::LARGE) stands for a size in `large`.
    rows: Vec<u32>,
    /// Row and size, by row.
    large: Vec<(u32, Bytes)>,
}

impl SizeColumn {
    const LARGE: u32 = u32::MAX;

    pub(super) fn reserve(&mut self, rows: usize) {
        self.rows.reserve(rows);
    }

    /// Bytes of memory that sizes beyond four bytes take besides their rows.
    pub(super) fn large_bytes(&self) -> usize {
        size_of_val(&*self.large)
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.rows.shrink_to_fit();
    }

    /// Forget the rows from some row on.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.rows.truncate(rows);
        self.large.retain(|&(row, _)| (row as usize) < rows);
    }

    #[inline]
    pub(super) fn push(&mut self, size: Bytes) {
        let small = u32::try_from(size.0).unwrap_or(Self::LARGE);
        if small == Self::LARGE {
            self.large.push((self.rows.len() as u32, size));
        }
        self.rows.push(small);
    }

    /// Append all rows of another column.
    pub(super) fn append(&mut self, other: &Self) {
        let first = self.rows.len() as u32;
        self.rows.extend_from_slice(&other.rows);
        self.large.extend(other.large.iter().map(|&(row, size)| (first + row, size)));
    }

    #[inline]
    pub(super) fn get(&self, row: usize) -> Bytes {
        match self.rows[row] {
            Self::LARGE => self.get_large(row as u32),
            small => Bytes(small.into()),
        }
    }

    fn get_large(&self, row: u32) -> Bytes {
        let found = self.large.binary_search_by_key(&row, |&(r, _)| r);
        debug_assert!(found.is_ok(), "`push` keeps the size of every row that it marks as large");
        found.map_or(Bytes::ZERO, |at| self.large[at].1)
    }
}

/// Times in microseconds, stored in four bytes each while all lie within 71 minutes (2³² µs) after the
/// first.
#[derive(Debug, Default, Clone)]
pub(super) struct TimeColumn {
    first_us: i64,
    /// Microseconds since `first_us`, plus one; 0 where no time was recorded.
    offsets: Vec<u32>,
    /// All times, instead of `offsets`, once one of them does not fit there.
    wide: Vec<Option<i64>>,
    /// True once a time was recorded, so that `first_us` is one.
    has_any: bool,
}

impl TimeColumn {
    pub(super) fn reserve(&mut self, rows: usize) {
        self.offsets.reserve(rows);
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.offsets.shrink_to_fit();
        self.wide.shrink_to_fit();
    }

    /// Forget the rows from some row on.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.offsets.truncate(rows);
        self.wide.truncate(rows);
    }

    /// Forget all rows, and keep the room that they had.
    pub(super) fn clear(&mut self) {
        self.truncate(0);
        (self.first_us, self.has_any) = (0, false);
    }

    #[inline]
    pub(super) fn push(&mut self, time_us: Option<i64>) {
        if let Some(time_us) = time_us
            && !self.has_any
        {
            self.first_us = time_us;
            self.has_any = true;
        }
        if self.wide.is_empty() {
            match time_us.map_or(Some(0), |time_us| self.offset(time_us)) {
                Some(offset) => return self.offsets.push(offset),
                None => self.widen(),
            }
        }
        self.wide.push(time_us);
    }

    /// Append all rows of another column.
    pub(super) fn append(&mut self, other: &Self) {
        if !self.append_offsets(other) {
            let rows = other.offsets.len().max(other.wide.len());
            (0..rows).for_each(|row| self.push(other.get(row)));
        }
    }

    /// Append the offsets of another column, if all of them fit here. Returns whether it did.
    fn append_offsets(&mut self, other: &Self) -> bool {
        let Some(later_us) = other.first_us.checked_sub(self.first_us).and_then(|us| u32::try_from(us).ok())
        else {
            return false;
        };
        let largest = other.offsets.iter().max().copied().unwrap_or(0);
        let fits = self.has_any && other.has_any && self.wide.is_empty() && other.wide.is_empty();
        if !fits || largest.checked_add(later_us).is_none() {
            return false;
        }
        let moved = |&offset: &u32| if offset == 0 { 0 } else { offset + later_us };
        self.offsets.extend(other.offsets.iter().map(moved));
        true
    }

    fn offset(&self, time_us: i64) -> Option<u32> {
        let offset = time_us.checked_sub(self.first_us)?.checked_add(1)?;
        u32::try_from(offset).ok().filter(|&offset| offset != 0)
    }

    fn widen(&mut self) {
        self.wide = (0..self.offsets.len()).map(|row| self.get(row)).collect();
        self.offsets = Vec::new();
    }

    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<i64> {
        match self.offsets.get(row) {
            Some(0) => None,
            Some(&offset) => Some(self.first_us + (i64::from(offset) - 1)),
            None => self.wide[row],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_column_stores_no_rows() {
        let mut column = CodedColumn::default();
        for _ in 0..5 {
            column.push(7);
        }
        assert_eq!((column.get(3), column.distinct()), (7, &[7][..]));
        assert!(column.narrow.is_empty() && column.wide.is_empty());
    }

    #[test]
    fn coded_columns_read_back_at_every_number_of_different_values() {
        for different in [1, 2, 255, 256, 257, 700] {
            let mut column = CodedColumn::default();
            let values: Vec<u32> = (0..2000).map(|i| i * i % different).collect();
            for &value in &values {
                column.push(value);
            }
            assert_eq!((0..values.len()).map(|row| column.get(row)).collect::<Vec<_>>(), values);
        }
    }

    #[test]
    fn a_second_row_that_differs_from_the_first_is_kept() {
        let mut column = CodedColumn::default();
        for value in [1, 2, 2, 1] {
            column.push(value);
        }
        assert_eq!((0..4).map(|row| column.get(row)).collect::<Vec<_>>(), [1, 2, 2, 1]);
    }

    #[test]
    fn sizes_of_any_magnitude_are_kept() {
        let mut column = SizeColumn::default();
        let sizes = [0, 512, i64::from(u32::MAX) - 1, i64::from(u32::MAX), 1 << 40, 7];
        for &size in &sizes {
            column.push(Bytes(size));
        }
        assert_eq!((0..sizes.len()).map(|row| column.get(row)).collect::<Vec<_>>(), sizes);
    }

    #[test]
    fn times_of_any_distance_are_kept() {
        let near = [None, Some(1_000), Some(999), Some(5_000), None];
        let far =
            [Some(1_000), None, Some(1_000 + i64::from(u32::MAX)), Some(i64::MIN), Some(i64::MAX), Some(3)];
        for times in [&near[..], &far[..], &[None, None][..]] {
            let mut column = TimeColumn::default();
            for &time in times {
                column.push(time);
            }
            assert_eq!((0..times.len()).map(|row| column.get(row)).collect::<Vec<_>>(), times);
        }
    }
}
