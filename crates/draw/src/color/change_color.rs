//! The colours of changes: grey where nothing changed, orange for more and blue for less.

use super::palette::{Palette, Rgb};

impl Palette {
    /// The colour of a change as a part of the larger of both amounts: 1 for what is new, −1 for what is gone.
    ///
    /// Orange and blue differ for all eyes, and red keeps its meaning. Both are as far from grey, so that a part is as
    /// strong a colour in either direction.
    pub fn change(&self, part: f32) -> Rgb {
        let (same, more, less) = if self.is_dark {
            (Rgb::hex(0x47_4d54), Rgb::hex(0xea_9a4a), Rgb::hex(0x4c_a3ec))
        } else {
            (Rgb::hex(0xc0_c6cd), Rgb::hex(0xd0_6a16), Rgb::hex(0x2f_7fc4))
        };
        same.mix(if part < 0.0 { less } else { more }, part.abs().clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::color_difference::Vision;
    use super::*;

    /// Colours with a CIEDE2000 of ten or more are told apart at a glance, also where they do not touch.
    const LEAST: f64 = 10.0;

    #[test]
    fn more_and_less_are_told_apart_by_everyone() {
        for (palette, vision) in [&Palette::DARK, &Palette::LIGHT]
            .into_iter()
            .flat_map(|palette| Vision::ALL.map(|eyes| (palette, eyes)))
        {
            let [less, same, more] = [-1.0, 0.0, 1.0].map(|part| palette.change(part));
            let others = [palette.window, palette.panel, palette.outline];
            let pairs = [(less, more), (less, same), (more, same)].into_iter();
            let grounds = [less, same, more].into_iter().flat_map(|color| others.map(|other| (color, other)));
            for (a, b) in pairs.chain(grounds) {
                let found = vision.difference(a, b);
                assert!(LEAST <= found, "{a:?} {b:?} {vision:?} dark {}: {found}", palette.is_dark);
            }
            // Where a failed request or the peak is marked, too, they differ as much as two lines of a chart need.
            for meaning in [palette.oom, palette.peak] {
                assert!(LEAST / 2.0 <= vision.difference(more, meaning), "{meaning:?} {vision:?}");
            }
            // Half a change is half as far, and a part below the least and above the most is no other colour.
            for part in [-0.5, 0.5] {
                let half = palette.change(part);
                assert!(LEAST <= vision.difference(half, same), "{part} {vision:?}");
                assert!(LEAST <= vision.difference(half, palette.change(-part)), "{part} {vision:?}");
            }
            assert_eq!([palette.change(-7.0), palette.change(2.0)], [less, more]);
        }
    }
}
