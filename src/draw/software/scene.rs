//! What is to be painted, in order: rectangles, which most of a window is made of, and triangles.

use super::rect::{self, Fill};
use super::textures::{Texture, Textures};
use super::triangle::{self, Triangle};
use super::{polygon, polygon::Corner};
use egui::epaint::{Mesh, Primitive};
use egui::{ClippedPrimitive, Rect};
use rayon::prelude::*;

/// A shape and the pixels that it may touch.
pub(super) struct Item<'a> {
    pub(super) area: Area,
    pub(super) shape: Shape<'a>,
}

pub(super) enum Shape<'a> {
    /// All the pixels.
    Rect(Fill<'a>),
    /// Those whose centres are inside.
    Triangle(Triangle<'a>),
}

/// Some pixels of the picture; ends are exclusive.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) columns: [i32; 2],
    pub(super) rows: [i32; 2],
}

impl Area {
    /// What a clip rectangle lets through.
    fn of_clip(clip: Rect, pixels_per_point: f32, [width, height]: [usize; 2]) -> Self {
        let within = |a: f32, b: f32, size: usize| {
            let pixel = |at: f32, low: i32| ((at * pixels_per_point).round() as i32).clamp(low, size as i32);
            let from = pixel(a, 0);
            [from, pixel(b, from)]
        };
        Self { columns: within(clip.min.x, clip.max.x, width), rows: within(clip.min.y, clip.max.y, height) }
    }

    /// The part that is also in these columns and rows; `None` where there is none.
    pub(super) fn cut(&self, columns: [i64; 2], rows: [i64; 2]) -> Option<Self> {
        let cut = |[from, to]: [i64; 2], [low, high]: [i32; 2]| {
            let within = |at: i64| at.clamp(i64::from(low), i64::from(high)) as i32;
            [within(from), within(to)]
        };
        let (columns, rows) = (cut(columns, self.columns), cut(rows, self.rows));
        (columns[0] < columns[1] && rows[0] < rows[1]).then_some(Self { columns, rows })
    }
}

/// Everything that touches the picture.
pub(super) fn items<'a>(
    primitives: &[ClippedPrimitive],
    textures: &'a Textures,
    pixels_per_point: f32,
    size_px: [usize; 2],
) -> Vec<Item<'a>> {
    let of_primitive = |primitive: &ClippedPrimitive| {
        let Primitive::Mesh(mesh) = &primitive.primitive else { return Vec::new() };
        let clip = Area::of_clip(primitive.clip_rect, pixels_per_point, size_px);
        let texture = textures.get(mesh.texture_id);
        texture.map_or_else(Vec::new, |texture| of_mesh(mesh, texture, f64::from(pixels_per_point), clip))
    };
    let parts: Vec<Vec<Item<'a>>> = primitives.par_iter().map(of_primitive).collect();
    parts.into_iter().flatten().collect()
}

/// The items that each band of rows has to paint, in order.
pub(super) fn bands(items: &[Item<'_>], height: usize, band_rows: usize) -> Vec<Vec<u32>> {
    let mut bands = vec![Vec::new(); height.div_ceil(band_rows)];
    for (i, item) in items.iter().enumerate() {
        let [from, to] = item.area.rows.map(|row| row as usize);
        for band in bands.iter_mut().take(to.div_ceil(band_rows)).skip(from / band_rows) {
            band.push(i as u32);
        }
    }
    bands
}

fn of_mesh<'a>(mesh: &Mesh, texture: &'a Texture, scale: f64, clip: Area) -> Vec<Item<'a>> {
    let mut items = Vec::new();
    let corners = |indices: &[u32]| -> Option<[Corner; 3]> {
        let corner = |i: u32| mesh.vertices.get(i as usize).map(|vertex| Corner::new(vertex, scale));
        Some([corner(indices[0])?, corner(indices[1])?, corner(indices[2])?])
    };
    let mut rest = mesh.indices.chunks_exact(3).filter_map(corners).peekable();
    while let Some(corners) = rest.next() {
        if let Some(ends) = rest.peek().and_then(|next| rect::of_triangles(&corners, next)) {
            items.extend(rect::item(&ends, texture, &clip));
            rest.next();
        } else {
            polygon::cut(corners, |part| items.extend(triangle::item(&part, texture, &clip)));
        }
    }
    items
}
