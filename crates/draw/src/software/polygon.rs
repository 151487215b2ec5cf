//! Corners of triangles, and cutting triangles that reach far outside of the picture.

use egui::epaint::Vertex;

/// Distance from the origin, in pixels, at which triangles are cut. Zoomed in deeply, lines may end
/// millions of pixels away; up to here, products of places in 256ths of a pixel fit into 64 bits.
const REACH_PX: f64 = (1 << 20) as f64;

/// Steps per pixel of a corner's place, as on GPUs: shapes that touch have exactly equal corners.
const STEPS_PER_PX: f64 = 256.0;

/// A corner, in pixels.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Corner {
    pub(super) x: f64,
    pub(super) y: f64,
    /// Place in the texture, from 0 to 1.
    pub(super) uv: [f32; 2],
    /// Premultiplied, from 0 to 255.
    pub(super) color: [f32; 4],
}

impl Corner {
    pub(super) fn new(vertex: &Vertex, scale: f64) -> Self {
        Self {
            x: f64::from(vertex.pos.x) * scale,
            y: f64::from(vertex.pos.y) * scale,
            uv: vertex.uv.into(),
            color: vertex.color.to_array().map(f32::from),
        }
    }

    /// The nearest place on the grid of [`STEPS_PER_PX`].
    pub(super) fn snapped(&self) -> [i64; 2] {
        [self.x, self.y].map(|at| (at * STEPS_PER_PX).round() as i64)
    }

    fn is_finite(&self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.uv.iter().all(|at| at.is_finite())
    }

    /// The point at a share, from 0 to 1, of the way to another corner.
    fn toward(&self, other: &Self, part: f64) -> Self {
        let mix = |a: f64, b: f64| a + (b - a) * part;
        let mix_f32 = |a: f32, b: f32| mix(f64::from(a), f64::from(b)) as f32;
        Self {
            x: mix(self.x, other.x),
            y: mix(self.y, other.y),
            uv: std::array::from_fn(|i| mix_f32(self.uv[i], other.uv[i])),
            color: std::array::from_fn(|i| mix_f32(self.color[i], other.color[i])),
        }
    }
}

/// Call `part` with the parts of a triangle within [`REACH_PX`]; none if a corner is not finite.
pub(super) fn cut(corners: [Corner; 3], mut part: impl FnMut([Corner; 3])) {
    if !corners.iter().all(Corner::is_finite) {
        return;
    }
    if corners.iter().all(|corner| corner.x.abs().max(corner.y.abs()) <= REACH_PX) {
        part(corners);
        return;
    }
    let sides: [fn(&Corner) -> f64; 4] =
        [|c| REACH_PX + c.x, |c| REACH_PX - c.x, |c| REACH_PX + c.y, |c| REACH_PX - c.y];
    let polygon = sides.into_iter().fold(corners.to_vec(), |polygon, side| on_side(&polygon, side));
    if let [first, rest @ ..] = polygon.as_slice() {
        rest.windows(2).for_each(|pair| part([*first, pair[0], pair[1]]));
    }
}

/// The part of a convex polygon where `distance` is not negative.
fn on_side(polygon: &[Corner], distance: fn(&Corner) -> f64) -> Vec<Corner> {
    let mut out = Vec::with_capacity(polygon.len() + 1);
    for (i, here) in polygon.iter().enumerate() {
        let next = &polygon[(i + 1) % polygon.len()];
        let (a, b) = (distance(here), distance(next));
        if 0.0 <= a {
            out.push(*here);
        }
        if (0.0 <= a) != (0.0 <= b) {
            out.push(here.toward(next, a / (a - b)));
        }
    }
    out
}
