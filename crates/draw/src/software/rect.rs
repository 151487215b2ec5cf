//! Rectangles along the axes: two triangles that are painted as one, faster and with the same pixels.

use super::area::Area;
use super::band::Band;
use super::blend;
use super::polygon::Corner;
use super::textures::{Tap, Texture};

/// The fill of a rectangle.
pub(super) enum Fill<'a> {
    /// One texel, multiplied by a colour.
    Flat { texel: [u8; 4], tint: [u8; 4] },
    /// A part of a texture, multiplied by a colour.
    Texture(Patch<'a>),
}

/// A part of a texture, with its place in the picture.
pub(super) struct Patch<'a> {
    texture: &'a Texture,
    tint: [u8; 4],
    is_linear: bool,
    /// For each axis, the place in texels at the centre of pixel 0, and the number of texels per pixel.
    map: [[f64; 2]; 2],
}

/// The top left and the bottom right corner of the rectangle that two triangles form; `None` if they form
/// none, or one of several colours.
pub(super) fn of_triangles(a: &[Corner; 3], b: &[Corner; 3]) -> Option<[Corner; 2]> {
    let color = a[0].color;
    let (mut low, mut high) = (a[0], a[0]);
    for corner in a.iter().chain(b) {
        if corner.color != color {
            return None;
        }
        for (is_before, end) in [(true, &mut low), (false, &mut high)] {
            if if is_before { corner.x < end.x } else { end.x < corner.x } {
                (end.x, end.uv[0]) = (corner.x, corner.uv[0]);
            }
            if if is_before { corner.y < end.y } else { end.y < corner.y } {
                (end.y, end.uv[1]) = (corner.y, corner.uv[1]);
            }
        }
    }
    // A bit for each of the four corners; `None` if it is none of them. The texture must run along the axes,
    // too.
    let place = |corner: &Corner| {
        let side = |at: f64, uv: f32, low: (f64, f32), high: (f64, f32)| match (at, uv) {
            here if here == low => Some(0),
            here if here == high => Some(1),
            _ => None,
        };
        let x = side(corner.x, corner.uv[0], (low.x, low.uv[0]), (high.x, high.uv[0]))?;
        let y = side(corner.y, corner.uv[1], (low.y, low.uv[1]), (high.y, high.uv[1]))?;
        Some(1u8 << (x + 2 * y))
    };
    let corners = |triangle: &[Corner; 3]| {
        triangle.iter().try_fold(0u8, |all, corner| Some(all | place(corner)?)).map(|all| 15 ^ all)
    };
    // Each triangle lacks one corner, and the two that are lacking are opposite.
    let halves = (corners(a)?, corners(b)?);
    matches!(halves, (1, 8) | (8, 1) | (2, 4) | (4, 2)).then_some([low, high])
}

/// The item of a rectangle; `None` if it has no pixel inside `clip`.
pub(super) fn item<'a>(ends: &[Corner; 2], texture: &'a Texture, clip: &Area) -> Option<(Area, Fill<'a>)> {
    let [low, high] = ends;
    // A pixel whose centre is on an edge belongs to the rectangle that begins there: the top-left rule.
    let (from, to) = (low.snapped(), high.snapped());
    let pixels = |axis: usize| [from[axis].saturating_add(127) >> 8, to[axis].saturating_add(127) >> 8];
    let area = clip.cut(pixels(0), pixels(1))?;
    Some((area, fill(low, high, texture)))
}

fn fill<'a>(low: &Corner, high: &Corner, texture: &'a Texture) -> Fill<'a> {
    let size = texture.size();
    let tint = low.color.map(|channel| channel as u8);
    if low.uv == high.uv {
        let tap = |axis: usize| texture.tap(axis, f64::from(low.uv[axis]) * size[axis], false);
        return Fill::Flat { texel: texture.texel(tap(0), tap(1)), tint };
    }
    let map = |axis: usize, from: f64, to: f64| {
        let [start, end] = [low.uv[axis], high.uv[axis]].map(|at| f64::from(at) * size[axis]);
        let step = (end - start) / (to - from);
        [start + (0.5 - from) * step, step]
    };
    let map = [map(0, low.x, high.x), map(1, low.y, high.y)];
    let is_linear = texture.is_linear(map[0][1].abs().max(map[1][1].abs()));
    Fill::Texture(Patch { texture, tint, is_linear, map })
}

/// Paint some rows and columns of a band.
pub(super) fn paint(band: &mut Band<'_>, rows: [i32; 2], columns: [i32; 2], fill: &Fill<'_>) {
    match fill {
        Fill::Flat { texel, tint } => {
            for y in rows[0]..rows[1] {
                flat(band.span(y, columns), *texel, *tint);
            }
        }
        Fill::Texture(patch) => patch.paint(band, rows, columns),
    }
}

/// Paint pixels of a row with one colour.
pub(super) fn flat(span: &mut [[u8; 4]], texel: [u8; 4], tint: [u8; 4]) {
    match (texel, tint) {
        ([255, 255, 255, 255], [.., 255]) => span.fill(tint),
        ([255, 255, 255, 255], _) => span.iter_mut().for_each(|pixel| blend::over(pixel, tint)),
        _ => span.iter_mut().for_each(|pixel| blend::tinted_over(pixel, texel, tint)),
    }
}

impl Patch<'_> {
    fn tap(&self, axis: usize, pixel: i32) -> Tap {
        let [start, step] = self.map[axis];
        self.texture.tap(axis, start + f64::from(pixel) * step, self.is_linear)
    }

    fn paint(&self, band: &mut Band<'_>, rows: [i32; 2], columns: [i32; 2]) {
        let taps: Vec<Tap> = (columns[0]..columns[1]).map(|x| self.tap(0, x)).collect();
        let is_exact = taps.iter().all(|tap| tap.is_exact());
        for y in rows[0]..rows[1] {
            let (row, span) = (self.tap(1, y), band.span(y, columns));
            match is_exact && row.is_exact() {
                true if self.tint == [255; 4] => self.copy(span, &taps, row),
                true => self.tinted(span, &taps, row),
                false => self.mixed(span, &taps, row),
            }
        }
    }

    /// Paint a row of a picture: whole texels without a tint.
    fn copy(&self, span: &mut [[u8; 4]], taps: &[Tap], row: Tap) {
        for (pixel, &column) in span.iter_mut().zip(taps) {
            let texel = self.texture.texel(column, row);
            if texel[3] == 255 {
                *pixel = texel;
            } else {
                blend::over(pixel, texel);
            }
        }
    }

    /// Paint a row of text: whole texels with a tint.
    fn tinted(&self, span: &mut [[u8; 4]], taps: &[Tap], row: Tap) {
        for (pixel, &column) in span.iter_mut().zip(taps) {
            let texel = self.texture.texel(column, row);
            if texel != [0; 4] {
                blend::tinted_over(pixel, texel, self.tint);
            }
        }
    }

    /// Anything that is scaled.
    fn mixed(&self, span: &mut [[u8; 4]], taps: &[Tap], row: Tap) {
        let tint = self.tint.map(|channel| f32::from(channel) * (1.0 / 255.0));
        for (pixel, &column) in span.iter_mut().zip(taps) {
            let texel = self.texture.mixed(column, row);
            blend::mixed_over(pixel, std::array::from_fn(|i| texel[i] * tint[i]));
        }
    }
}
