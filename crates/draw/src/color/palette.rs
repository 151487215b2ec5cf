//! The two palettes, and a stable colour for each stack.

use super::stack_hash::{StackHasher, mix_bits};
use oomscope_model::{Snapshot, StackId};
use rayon::prelude::*;

/// Number of hues that stand for those of stacks. More can hardly be told apart, as red and amber are left out.
pub(super) const HUES: usize = 12;

/// Share of white in what is selected: enough to be seen beside its neighbours, and its hue stays.
pub(crate) const LIGHTER_SHARE: f32 = 0.30;

/// An opaque colour in sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    pub(super) const fn hex(code: u32) -> Self {
        Self((code >> 16) as u8, (code >> 8) as u8, code as u8)
    }

    /// This colour mixed with a share of another one, from 0 to 1.
    #[must_use]
    pub fn mix(self, other: Self, share: f32) -> Self {
        let mix = |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * share).round() as u8;
        Self(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }
}

impl From<Rgb> for egui::Color32 {
    fn from(Rgb(r, g, b): Rgb) -> Self {
        Self::from_rgb(r, g, b)
    }
}

/// The colours of one theme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Palette {
    /// True if this is the dark theme.
    pub is_dark: bool,
    /// The ground of pictures.
    pub window: Rgb,
    /// The ground of text.
    pub panel: Rgb,
    /// Borders and grid lines.
    pub line: Rgb,
    /// Text.
    pub text: Rgb,
    /// Less important text.
    pub muted: Rgb,
    /// Links and controls.
    pub accent: Rgb,
    /// Outlines of what is selected or under the pointer. It is lighter than all bands on a dark ground and darker
    /// than all on a light one, so that it is never taken for one of their colours.
    pub outline: Rgb,
    /// Requests that could not be met, and nothing else.
    pub oom: Rgb,
    /// The peak, and nothing else.
    pub peak: Rgb,
    /// The total of reserved memory.
    pub reserved: Rgb,
    /// The total of allocated memory.
    pub allocated: Rgb,
    /// Blocks of which nothing is known: no purpose, or no recorded stack.
    pub unknown: Rgb,
    /// Frames of a call tree that are thinner than a pixel.
    pub merged: Rgb,
    /// Lightness of bands, in OKLCH.
    band_lightness: f32,
    /// Chroma of bands, in OKLCH.
    band_chroma: f32,
}

impl Palette {
    /// Light text on dark ground.
    pub const DARK: Self = Self {
        is_dark: true,
        window: Rgb::hex(0x0f_1216),
        panel: Rgb::hex(0x16_1b21),
        line: Rgb::hex(0x28_303a),
        text: Rgb::hex(0xd9_dee4),
        muted: Rgb::hex(0xa0_abb7),
        accent: Rgb::hex(0x6f_b5fb),
        outline: Rgb::hex(0xff_ffff),
        oom: Rgb::hex(0xf8_747a),
        peak: Rgb::hex(0xf2_b134),
        reserved: Rgb::hex(0xa6_b0bb),
        allocated: Rgb::hex(0xf1_f4f7),
        unknown: Rgb::hex(0x66_6666),
        merged: Rgb::hex(0x20_262d),
        band_lightness: 0.60,
        band_chroma: 0.095,
    };

    /// Dark text on light ground.
    pub const LIGHT: Self = Self {
        is_dark: false,
        window: Rgb::hex(0xff_ffff),
        panel: Rgb::hex(0xf5_f7f9),
        line: Rgb::hex(0xd5_dbe2),
        text: Rgb::hex(0x1b_2128),
        muted: Rgb::hex(0x4d_5763),
        accent: Rgb::hex(0x0e_56a9),
        outline: Rgb::hex(0x0b_0e12),
        oom: Rgb::hex(0xb3_262b),
        peak: Rgb::hex(0x87_5800),
        reserved: Rgb::hex(0x6b_7682),
        allocated: Rgb::hex(0x1b_2128),
        unknown: Rgb::hex(0x6f_6f6f),
        merged: Rgb::hex(0xe3_e8ed),
        band_lightness: 0.73,
        band_chroma: 0.095,
    };

    /// The colour of a number such as an id. Near numbers have different colours.
    pub fn hashed(&self, number: u64) -> Rgb {
        self.band(mix_bits(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// The colour of an amount from 0 to 1: related hues whose lightness changes evenly.
    pub fn ramp(&self, share: f32) -> Rgb {
        let share = share.clamp(0.0, 1.0);
        let (from, to) = if self.is_dark { (0.36, 0.88) } else { (0.90, 0.40) };
        srgb_from_oklch(from + (to - from) * share, 0.05 + 0.06 * share, 265.0 - 105.0 * share)
    }

    /// The colour of text on a ground: black or white, whichever has more contrast. On every ground one of them has
    /// the 4.5 that WCAG AA asks for, which no lighter ink and no darker paper would reach.
    pub fn text_on(ground: Rgb) -> Rgb {
        const INK: Rgb = Rgb::hex(0x00_0000);
        const PAPER: Rgb = Rgb::hex(0xff_ffff);
        if contrast(PAPER, ground) < contrast(INK, ground) { INK } else { PAPER }
    }

    /// Hues that stand for those of stacks, from the first to the last.
    pub(super) fn hues(&self) -> [Rgb; HUES] {
        // The middle of the five steps of lightness.
        const MIDDLE: u64 = 2 << 16;
        std::array::from_fn(|at| self.band(MIDDLE | (at as u64 * 0xffff / (HUES as u64 - 1))))
    }

    /// The colour of less important text on a ground, if it can be read there.
    pub(crate) fn quiet_text_on(&self, ground: Rgb) -> Rgb {
        /// Least contrast of text by WCAG AA.
        const LEAST: f32 = 4.5;
        if LEAST <= contrast(self.muted, ground) { self.muted } else { Self::text_on(ground) }
    }

    /// A colour made lighter: the fill of what is selected.
    pub fn lighter(color: Rgb) -> Rgb {
        color.mix(Rgb::hex(0xff_ffff), LIGHTER_SHARE)
    }

    /// The colour of a hashed stack. Small steps of lightness make neighbours differ for eyes that see few
    /// hues.
    fn band(&self, hash: u64) -> Rgb {
        let step = ((hash >> 16) % 5) as f32 - 2.0;
        srgb_from_oklch(self.band_lightness + step * 0.028, self.band_chroma, band_hue(hash))
    }
}

/// A hue in degrees that is neither red nor amber, which have a meaning.
fn band_hue(hash: u64) -> f32 {
    const FIRST_HUE: f32 = 130.0;
    const LAST_HUE: f32 = 350.0;
    FIRST_HUE + (LAST_HUE - FIRST_HUE) * ((hash & 0xffff) as f32 / 65_535.0)
}

/// WCAG contrast of two colours, from 1 to 21.
pub(super) fn contrast(a: Rgb, b: Rgb) -> f32 {
    let linear = |v: u8| {
        let v = f32::from(v) / 255.0;
        if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    };
    let luminance = |c: Rgb| 0.2126 * linear(c.0) + 0.7152 * linear(c.1) + 0.0722 * linear(c.2);
    let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
    a.max(b) / a.min(b)
}

/// The colour of every stack of a file.
#[derive(Debug, Clone)]
pub struct BandColors {
    by_stack: Vec<Rgb>,
    /// The number of the nearest of [`Palette::hues`], by stack.
    hue_by_stack: Vec<u8>,
}

impl BandColors {
    /// The colours of a file's stacks. They depend on the frames' files, lines and functions, not on ids,
    /// so that the same code has the same colour in every file and run.
    pub fn new(snapshot: &Snapshot, palette: &Palette) -> Self {
        let stacks = 0..snapshot.stacks.len() as u32;
        let hasher = StackHasher::new(snapshot);
        let color = |stack: u32| {
            if stack == StackId::EMPTY.0 {
                palette.unknown
            } else {
                palette.band(hasher.hash(StackId(stack)))
            }
        };
        let by_stack: Vec<Rgb> = stacks.into_par_iter().map(color).collect();
        let hues = palette.hues();
        let hue_by_stack = by_stack.par_iter().map(|&color| nearest(&hues, color)).collect();
        Self { by_stack, hue_by_stack }
    }

    /// The number of the hue that is nearest to the colour of a stack; one more than the last without one.
    #[inline]
    pub(super) fn hue(&self, stack: StackId) -> u8 {
        if stack == StackId::EMPTY { HUES as u8 } else { self.hue_by_stack[stack.index()] }
    }

    /// The colour of a stack.
    #[inline]
    pub fn get(&self, stack: StackId) -> Rgb {
        self.by_stack[stack.index()]
    }
}

/// The number of the hue that is nearest to a colour.
pub(super) fn nearest(hues: &[Rgb; HUES], Rgb(r, g, b): Rgb) -> u8 {
    let distance = |&at: &usize| {
        let Rgb(to_r, to_g, to_b) = hues[at];
        [(r, to_r), (g, to_g), (b, to_b)].map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).iter().sum::<u32>()
    };
    (0..HUES).min_by_key(distance).unwrap_or(0) as u8
}

/// An sRGB colour from Björn Ottosson's OKLCH; channels out of gamut are clipped.
fn srgb_from_oklch(lightness: f32, chroma: f32, hue_degrees: f32) -> Rgb {
    let (sin, cos) = hue_degrees.to_radians().sin_cos();
    let (a, b) = (chroma * cos, chroma * sin);
    let l = (lightness + 0.396_337_78 * a + 0.215_803_76 * b).powi(3);
    let m = (lightness - 0.105_561_346 * a - 0.063_854_17 * b).powi(3);
    let s = (lightness - 0.089_484_18 * a - 1.291_485_5 * b).powi(3);
    let encode = |linear: f32| {
        let v = linear.clamp(0.0, 1.0);
        let v = if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
        (v * 255.0).round() as u8
    };
    Rgb(
        encode(4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s),
        encode(-1.268_438 * l + 2.609_757_4 * m - 0.341_319_38 * s),
        encode(-0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grey_stays_grey_and_bands_are_colourful() {
        let Rgb(r, g, b) = srgb_from_oklch(0.5, 0.0, 200.0);
        assert!(r.abs_diff(g) <= 1 && g.abs_diff(b) <= 1);
        for hash in [0, 0x8000, 0xffff, 0x4_1234] {
            let Rgb(r, g, b) = Palette::DARK.band(hash);
            assert!(20 < r.max(g).max(b) - r.min(g).min(b));
        }
    }

    #[test]
    fn colours_are_the_same_in_every_run() {
        assert_eq!(Palette::DARK.band(0x1234_5678), Palette::DARK.band(0x1234_5678));
        assert_ne!(Palette::DARK.band(0x1234_0000), Palette::DARK.band(0x1234_8000));
    }
}
