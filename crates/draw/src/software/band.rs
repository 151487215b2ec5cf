//! A band: the rows of the picture that one task paints.

/// Neighbouring rows of the picture.
pub(super) struct Band<'a> {
    /// The first row.
    pub(super) top: i32,
    /// Number of columns.
    pub(super) width: usize,
    /// The rows, one after another.
    pub(super) pixels: &'a mut [[u8; 4]],
}

impl Band<'_> {
    /// The row after the last.
    pub(super) fn bottom(&self) -> i32 {
        self.top + (self.pixels.len() / self.width.max(1)) as i32
    }

    /// The columns `from..to` of a row, which must be in the band.
    pub(super) fn span(&mut self, y: i32, [from, to]: [i32; 2]) -> &mut [[u8; 4]] {
        let row = (y - self.top) as usize * self.width;
        &mut self.pixels[row + from as usize..row + to as usize]
    }
}
