//! Blending a colour over a pixel. Colours are premultiplied.

/// Lay a colour of whole numbers over a pixel, rounded to nearest.
#[inline]
pub(super) fn over(pixel: &mut [u8; 4], color: [u8; 4]) {
    let keep = 255 - u32::from(color[3]);
    for (to, from) in pixel.iter_mut().zip(color) {
        *to = (u32::from(from) + (u32::from(*to) * keep + 127) / 255).min(255) as u8;
    }
}

/// Lay a texel, multiplied by a colour, over a pixel. The result is rounded once, at the end.
#[inline]
pub(super) fn tinted_over(pixel: &mut [u8; 4], texel: [u8; 4], tint: [u8; 4]) {
    /// Full opacity of a product of two channels.
    const ONE: u32 = 255 * 255;
    let keep = ONE - u32::from(texel[3]) * u32::from(tint[3]);
    for ((to, texel), tint) in pixel.iter_mut().zip(texel).zip(tint) {
        let sum = u32::from(texel) * u32::from(tint) * 255 + u32::from(*to) * keep;
        *to = ((sum + ONE / 2) / ONE).min(255) as u8;
    }
}

/// Lay a colour with fractions, from 0 to 255, over a pixel.
#[inline]
pub(super) fn mixed_over(pixel: &mut [u8; 4], color: [f32; 4]) {
    let keep = 1.0 - color[3] * (1.0 / 255.0);
    for (to, from) in pixel.iter_mut().zip(color) {
        // The cast saturates, so that overshooting shades end at 0 or 255.
        *to = (from + f32::from(*to) * keep + 0.5) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `round(color + pixel · (1 - alpha))` with fractions that no rounding touches.
    fn exact(pixel: u8, color: f64, alpha: f64) -> u8 {
        (color + f64::from(pixel) * (1.0 - alpha / 255.0)).round().clamp(0.0, 255.0) as u8
    }

    #[test]
    fn opaque_replaces_and_nothing_leaves() {
        let mut pixel = [10, 20, 30, 255];
        over(&mut pixel, [0, 0, 0, 0]);
        assert_eq!(pixel, [10, 20, 30, 255]);
        tinted_over(&mut pixel, [7, 8, 9, 255], [255; 4]);
        assert_eq!(pixel, [7, 8, 9, 255]);
        mixed_over(&mut pixel, [1.0, 2.0, 3.0, 255.0]);
        assert_eq!(pixel, [1, 2, 3, 255]);
    }

    #[test]
    fn light_is_added_without_overflow() {
        let mut pixel = [200, 200, 200, 255];
        over(&mut pixel, [100, 10, 0, 0]);
        assert_eq!(pixel, [255, 210, 200, 255]);
    }

    proptest! {
        #[test]
        fn whole_numbers_round_to_nearest(pixel: u8, color: u8, alpha: u8, tint: u8) {
            let mut out = [pixel; 4];
            over(&mut out, [color, color, color, alpha]);
            prop_assert_eq!(out[0], exact(pixel, f64::from(color), f64::from(alpha)));
            let mut out = [pixel; 4];
            tinted_over(&mut out, [color, color, color, alpha], [tint; 4]);
            let part = f64::from(tint) / 255.0;
            prop_assert_eq!(out[0], exact(pixel, f64::from(color) * part, f64::from(alpha) * part));
        }
    }
}
