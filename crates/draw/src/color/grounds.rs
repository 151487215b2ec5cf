//! The grounds of text in the window: rows, buttons and banners in their states.
//!
//! A test holds every text colour to a contrast of 4.5 on all of them, so text needs no colour of its own per ground.

use super::palette::{Palette, Rgb};

impl Palette {
    /// Shares of [`Palette::line`] in the ground of a widget: not interactive, at rest, open, and under the pointer.
    pub const WIDGET_SHARES: [f32; 4] = [0.0, 0.6, 0.8, 1.0];

    /// The ground of a widget with one of [`Self::WIDGET_SHARES`].
    pub fn widget(&self, share: f32) -> Rgb {
        self.panel.mix(self.line, share)
    }

    /// The ground of every other row, and of a row that can be clicked while the pointer is over it.
    pub fn faint(&self) -> Rgb {
        self.panel.mix(self.line, 0.35)
    }

    /// The ground of a row of a table under the pointer.
    pub fn hovered_row(&self) -> Rgb {
        self.panel.mix(self.line, 0.45)
    }

    /// The ground of the selected row of a table.
    pub fn selected_row(&self) -> Rgb {
        self.panel.mix(self.accent, 0.16)
    }

    /// The ground of the row of a table that the cursor is at.
    pub fn current_row(&self) -> Rgb {
        self.panel.mix(self.muted, 0.16)
    }

    /// The ground of a chosen button or tab, and of marked text.
    pub fn chosen(&self) -> Rgb {
        self.panel.mix(self.accent, 0.24)
    }

    /// The ground of a banner with a warning.
    pub fn warning(&self) -> Rgb {
        self.panel.mix(self.peak, 0.14)
    }

    /// The ground of a banner with a message.
    pub fn message(&self) -> Rgb {
        self.panel.mix(self.accent, 0.14)
    }

    /// The ground of holes and of reserved memory that is not in use.
    pub fn free(&self) -> Rgb {
        self.window.mix(self.muted, 0.07)
    }
}

#[cfg(test)]
mod tests {
    use super::super::palette::contrast;
    use super::*;

    /// WCAG AA for text of any size.
    const LEAST: f32 = 4.5;

    fn grounds(palette: &Palette) -> Vec<Rgb> {
        let widgets = Palette::WIDGET_SHARES.map(|share| palette.widget(share));
        let others = [
            palette.window,
            palette.panel,
            palette.faint(),
            palette.hovered_row(),
            palette.selected_row(),
            palette.current_row(),
            palette.warning(),
            palette.message(),
        ];
        widgets.into_iter().chain(others).collect()
    }

    #[test]
    fn text_can_be_read_on_every_ground() {
        for palette in [Palette::DARK, Palette::LIGHT] {
            for ground in grounds(&palette) {
                for text in [palette.text, palette.muted, palette.accent, palette.oom] {
                    assert!(LEAST <= contrast(text, ground), "{text:?} on {ground:?}");
                }
            }
            for text in [palette.text, palette.muted, palette.accent] {
                assert!(LEAST <= contrast(text, palette.chosen()), "{text:?} on what is chosen");
                assert!(LEAST <= contrast(text, palette.free()), "{text:?} on holes");
            }
            // Labels of marks lie on the window's ground, whatever is below.
            for ground in [palette.window, palette.panel] {
                assert!(LEAST <= contrast(palette.peak, ground), "the label of the peak on {ground:?}");
            }
        }
    }

    #[test]
    fn black_or_white_can_be_read_on_every_colour() {
        for code in 0..=0xfff {
            let [r, g, b] = [8, 4, 0].map(|shift| (code >> shift & 0xf) as u8 * 17);
            let ground = Rgb(r, g, b);
            assert!(LEAST <= contrast(Palette::text_on(ground), ground), "{ground:?}");
        }
    }
}
