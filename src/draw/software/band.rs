//! Rows of the picture that one task paints.

/// Rows that are painted by one task.
pub(super) struct Band<'a> {
    /// The first row.
    pub(super) top: i32,
    /// Columns.
    pub(super) width: usize,
    /// The rows, one after another.
    pub(super) pixels: &'a mut [[u8; 4]],
}

impl Band<'_> {
    /// Behind the last row.
    pub(super) fn bottom(&self) -> i32 {
        self.top + (self.pixels.len() / self.width.max(1)) as i32
    }

    /// Some columns of a row that is in the band.
    pub(super) fn span(&mut self, y: i32, [from, to]: [i32; 2]) -> &mut [[u8; 4]] {
        let row = (y - self.top) as usize * self.width;
        &mut self.pixels[row + from as usize..row + to as usize]
    }
}
