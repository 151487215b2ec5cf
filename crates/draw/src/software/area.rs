//! A rectangle of pixels.

use egui::Rect;

/// A rectangle of the picture's pixels; ends are exclusive.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) columns: [i32; 2],
    pub(super) rows: [i32; 2],
}

impl Area {
    /// The pixels of the picture inside a clip rectangle.
    pub(super) fn of_clip(clip: Rect, pixels_per_point: f32, [width, height]: [usize; 2]) -> Self {
        let within = |a: f32, b: f32, size: usize| {
            let pixel = |at: f32, low: i32| ((at * pixels_per_point).round() as i32).clamp(low, size as i32);
            let from = pixel(a, 0);
            [from, pixel(b, from)]
        };
        Self { columns: within(clip.min.x, clip.max.x, width), rows: within(clip.min.y, clip.max.y, height) }
    }

    /// The part that is also in these columns and rows; `None` if it is empty.
    pub(super) fn cut(&self, columns: [i64; 2], rows: [i64; 2]) -> Option<Self> {
        let cut = |[from, to]: [i64; 2], [low, high]: [i32; 2]| {
            let within = |at: i64| at.clamp(i64::from(low), i64::from(high)) as i32;
            [within(from), within(to)]
        };
        let (columns, rows) = (cut(columns, self.columns), cut(rows, self.rows));
        (columns[0] < columns[1] && rows[0] < rows[1]).then_some(Self { columns, rows })
    }
}
