//! The scroll position of a long list, in rows.
//!
//! egui scrolls by points as `f32`, which are off by whole rows after about a million of them
//! (<https://github.com/emilk/egui/issues/1391>).

/// A row to bring into sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reveal {
    /// Move as little as possible.
    Nearest(usize),
    /// Put the row in the middle, unless it is in sight already.
    Centre(usize),
}

/// Sizes that scrolling depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Extent {
    /// Rows of the list.
    pub(crate) total: usize,
    /// Rows that fit, with a fraction of the last.
    pub(crate) shown: f64,
}

/// The number of rows above the view, with the hidden fraction of the first row in sight.
///
/// `f64` is exact to a billionth of a row for ten million rows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Scroll {
    top: f64,
}

impl Extent {
    /// The largest scroll.
    fn last(self) -> f64 {
        (self.total as f64 - self.shown).max(0.0)
    }

    /// True if everything fits.
    pub(crate) fn fits(self) -> bool {
        self.last() == 0.0
    }
}

impl Scroll {
    /// At the end.
    pub(crate) const END: Self = Self { top: f64::INFINITY };

    /// As far down as the list goes.
    pub(crate) fn within(self, extent: Extent) -> Self {
        Self { top: self.top.clamp(0.0, extent.last()) }
    }

    /// This scroll, moved by rows.
    pub(crate) fn by(self, rows: f64, extent: Extent) -> Self {
        Self { top: self.top + rows }.within(extent)
    }

    /// This scroll, moved so that a row is in sight.
    pub(crate) fn revealing(self, reveal: Reveal, extent: Extent) -> Self {
        let (Reveal::Nearest(row) | Reveal::Centre(row)) = reveal;
        let (top, bottom) = (row as f64, row as f64 + 1.0);
        let is_seen = self.top <= top && bottom <= self.top + extent.shown;
        let top = match reveal {
            _ if is_seen => self.top,
            Reveal::Centre(_) => (top + bottom - extent.shown) / 2.0,
            // A row that is taller than the list shows its start.
            Reveal::Nearest(_) if self.top <= top => (bottom - extent.shown).min(top),
            Reveal::Nearest(_) => top,
        };
        Self { top }.within(extent)
    }

    /// The first row of which a part is in sight, and the fraction of it that is hidden.
    pub(crate) fn first(self) -> (usize, f64) {
        debug_assert!(0.0 <= self.top && self.top.is_finite(), "{self:?} is not within a list");
        (self.top as usize, self.top.fract())
    }

    /// The start and the length of the scroll bar's thumb, as shares of the track.
    pub(crate) fn thumb(self, extent: Extent, min_length: f64) -> (f64, f64) {
        let length = (extent.shown / (extent.total.max(1) as f64)).clamp(min_length.min(1.0), 1.0);
        let share = if extent.fits() { 0.0 } else { self.top / extent.last() };
        (share * (1.0 - length), length)
    }

    /// The scroll at which the thumb starts at a share of the track.
    pub(crate) fn of_thumb(start: f64, length: f64, extent: Extent) -> Self {
        let room = 1.0 - length;
        let share = if room <= 0.0 { 0.0 } else { start / room };
        Self { top: share.clamp(0.0, 1.0) * extent.last() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MANY: Extent = Extent { total: 10_000_000, shown: 20.5 };

    #[test]
    fn every_one_of_ten_million_rows_can_be_reached() {
        let mut scroll = Scroll::END.within(MANY);
        for row in (0..MANY.total - 21).rev().step_by(99_991) {
            scroll = scroll.revealing(Reveal::Nearest(row), MANY);
            assert_eq!(scroll.first(), (row, 0.0));
            let (first, part) = scroll.by(0.25, MANY).first();
            assert_eq!(first, row);
            assert!((part - 0.25).abs() < 1e-6);
        }
        let end = Scroll::END.within(MANY);
        assert_eq!(end.first(), (9_999_979, 0.5));
        assert_eq!(end.revealing(Reveal::Nearest(9_999_999), MANY), end);
        assert_eq!(end.by(1e9, MANY), end);
    }

    #[test]
    fn a_list_that_fits_does_not_scroll() {
        let few = Extent { total: 3, shown: 10.0 };
        assert!(few.fits());
        assert_eq!(Scroll::END.within(few).by(5.0, few), Scroll::default());
        assert_eq!(Scroll::default().thumb(few, 0.1), (0.0, 1.0));
        let none = Extent { total: 0, shown: 0.0 };
        assert_eq!(Scroll::END.within(none).first(), (0, 0.0));
    }

    proptest! {
        #[test]
        fn a_revealed_row_is_seen(total in 1usize..10_000_000, shown in 1.0f64..90.0, at in 0.0f64..1.0, row in 0.0f64..1.0) {
            let extent = Extent { total, shown };
            let row = ((row * total as f64) as usize).min(total - 1);
            let scroll = Scroll { top: at * total as f64 }.within(extent);
            for reveal in [Reveal::Nearest(row), Reveal::Centre(row)] {
                let Scroll { top } = scroll.revealing(reveal, extent);
                prop_assert!(top <= row as f64 && row as f64 + 1.0 <= top + shown + 1e-6);
                prop_assert!((0.0..=total as f64).contains(&top));
            }
        }

        #[test]
        fn the_thumb_leads_back_to_where_it_was(total in 100usize..10_000_000, at in 0.0f64..1.0) {
            let extent = Extent { total, shown: 30.0 };
            let scroll = Scroll { top: at * (total as f64 - 30.0) };
            let (start, length) = scroll.thumb(extent, 0.05);
            prop_assert!(0.0 <= start && start + length <= 1.0 + 1e-9);
            let Scroll { top } = Scroll::of_thumb(start, length, extent);
            prop_assert!((top - scroll.top).abs() < 1e-3);
        }
    }
}
