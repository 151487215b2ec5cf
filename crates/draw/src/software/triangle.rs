//! Triangles: the pixels with their centre inside, with shades between the corners' colours.

use super::area::Area;
use super::band::Band;
use super::polygon::Corner;
use super::textures::Texture;
use super::{blend, rect};

/// A triangle that turns clockwise on the screen.
pub(super) struct Triangle<'a> {
    /// Corners in 256ths of a pixel.
    places: [[i64; 2]; 3],
    ink: Ink<'a>,
}

enum Ink<'a> {
    /// One texel, multiplied by a colour.
    Flat { texel: [u8; 4], tint: [u8; 4] },
    /// One texel, multiplied by colours that change.
    Shaded { texel: [f32; 4], color: [Plane; 4] },
    /// A texture, multiplied by colours that change.
    Textured { texture: &'a Texture, is_linear: bool, uv: [Plane; 2], color: [Plane; 4] },
}

/// A value that changes evenly over the picture.
#[derive(Clone, Copy)]
struct Plane {
    /// Its value at the centre of pixel 0, 0.
    start: f64,
    /// Its change per pixel to the right.
    right: f64,
    /// Its change per pixel down.
    down: f64,
}

/// The item of a triangle; `None` if it has no area, or no pixel inside `clip`.
pub(super) fn item<'a>(
    corners: &[Corner; 3],
    texture: &'a Texture,
    clip: &Area,
) -> Option<(Area, Triangle<'a>)> {
    let (mut corners, mut places) = (*corners, corners.map(|corner| corner.snapped()));
    let twice_area = twice_area(&places);
    if twice_area < 0 {
        corners.swap(1, 2);
        places.swap(1, 2);
    }
    let pixels = |axis: usize| {
        let at = places.map(|place| place[axis]);
        let (low, high) = at.iter().fold((at[0], at[0]), |(low, high), &at| (low.min(at), high.max(at)));
        [(low + 127) >> 8, (high + 128) >> 8]
    };
    let area = clip.cut(pixels(0), pixels(1)).filter(|_| twice_area != 0)?;
    let triangle = Triangle { places, ink: ink(&corners, &places, texture) };
    Some((area, triangle))
}

/// Twice the area, in square steps of [`Corner::snapped`]; positive if the corners turn clockwise on the
/// screen.
fn twice_area([a, b, c]: &[[i64; 2]; 3]) -> i64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

fn ink<'a>(corners: &[Corner; 3], places: &[[i64; 2]; 3], texture: &'a Texture) -> Ink<'a> {
    let size = texture.size();
    let same_uv = corners.iter().all(|corner| corner.uv == corners[0].uv);
    let same_color = corners.iter().all(|corner| corner.color == corners[0].color);
    let tap = |axis: usize| texture.tap(axis, f64::from(corners[0].uv[axis]) * size[axis], false);
    let texel = || texture.texel(tap(0), tap(1));
    if same_uv && same_color {
        return Ink::Flat { texel: texel(), tint: corners[0].color.map(|channel| channel.round() as u8) };
    }
    let plane = |value: &dyn Fn(&Corner) -> f64| Plane::through(places, corners.each_ref().map(value));
    let color: [Plane; 4] = std::array::from_fn(|i| plane(&|corner| f64::from(corner.color[i])));
    if same_uv {
        return Ink::Shaded { texel: texel().map(|channel| f32::from(channel) / 255.0), color };
    }
    let uv: [Plane; 2] = std::array::from_fn(|i| plane(&|corner| f64::from(corner.uv[i]) * size[i]));
    let texels_per_pixel = uv.iter().map(|plane| plane.right.abs().max(plane.down.abs())).fold(0.0, f64::max);
    Ink::Textured { texture, is_linear: texture.is_linear(texels_per_pixel), uv, color }
}

impl Plane {
    fn through(places: &[[i64; 2]; 3], values: [f64; 3]) -> Self {
        let px = |steps: i64| steps as f64 / 256.0;
        let area = twice_area(places) as f64 / 65_536.0;
        let [a, b, c] = places;
        let (ab, ac) = ([px(b[0] - a[0]), px(b[1] - a[1])], [px(c[0] - a[0]), px(c[1] - a[1])]);
        let (to_b, to_c) = (values[1] - values[0], values[2] - values[0]);
        let right = (to_b * ac[1] - to_c * ab[1]) / area;
        let down = (to_c * ab[0] - to_b * ac[0]) / area;
        Self { start: values[0] + right * (0.5 - px(a[0])) + down * (0.5 - px(a[1])), right, down }
    }

    #[inline]
    fn at(&self, x: i32, y: i32) -> f64 {
        self.start + self.right * f64::from(x) + self.down * f64::from(y)
    }
}

impl Triangle<'_> {
    /// Paint some rows and columns of a band.
    pub(super) fn paint(&self, band: &mut Band<'_>, rows: [i32; 2], columns: [i32; 2]) {
        for y in rows[0]..rows[1] {
            let inside = self.inside(y, columns);
            if inside[0] < inside[1] {
                self.ink.row(band.span(y, inside), inside[0], y);
            }
        }
    }

    /// The columns of a row with their centre inside, by the top-left rule. Whole numbers make it exact,
    /// so that triangles with a common edge neither overlap nor leave a gap.
    fn inside(&self, y: i32, columns: [i32; 2]) -> [i32; 2] {
        let [mut from, mut to] = columns.map(i64::from);
        let y = (i64::from(y) << 8) + 128;
        for (i, a) in self.places.iter().enumerate() {
            let b = self.places[(i + 1) % 3];
            let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
            let is_top_or_left = dy < 0 || (dy == 0 && 0 < dx);
            // A column is inside if `start + per_px * column` is not negative.
            let start = dx * (y - a[1]) - dy * (128 - a[0]) - i64::from(!is_top_or_left);
            let per_px = -dy * 256;
            match per_px {
                1.. => from = from.max(-start.div_euclid(per_px)),
                0 if start < 0 => to = from,
                0 => {}
                _ => to = to.min(start.div_euclid(-per_px) + 1),
            }
        }
        [from.min(to) as i32, to as i32]
    }
}

impl Ink<'_> {
    fn row(&self, span: &mut [[u8; 4]], from: i32, y: i32) {
        match self {
            Self::Flat { texel, tint } => rect::flat(span, *texel, *tint),
            Self::Shaded { texel, color } => {
                let start = color.map(|plane| plane.at(from, y) as f32);
                let right = color.map(|plane| plane.right as f32);
                for (i, pixel) in span.iter_mut().enumerate() {
                    let i = i as f32;
                    blend::mixed_over(pixel, std::array::from_fn(|c| (start[c] + right[c] * i) * texel[c]));
                }
            }
            Self::Textured { texture, is_linear, uv, color } => {
                for (x, pixel) in (from..).zip(span) {
                    let tap = |axis: usize| texture.tap(axis, uv[axis].at(x, y), *is_linear);
                    let texel = texture.mixed(tap(0), tap(1));
                    let shade = |c: usize| color[c].at(x, y) as f32;
                    blend::mixed_over(pixel, std::array::from_fn(|c| shade(c) * texel[c] * (1.0 / 255.0)));
                }
            }
        }
    }
}
