//! The shapes to paint, in order: rectangles, of which most of a window consists, and triangles.

use super::area::Area;
use super::band::Band;
use super::rect::{self, Fill};
use super::textures::{Texture, Textures};
use super::triangle::{self, Triangle};
use super::{polygon, polygon::Corner};
use egui::ClippedPrimitive;
use egui::epaint::{Mesh, Primitive};
use rayon::prelude::*;

/// A shape and the pixels that it may touch.
pub(super) struct Item<'a> {
    area: Area,
    shape: Shape<'a>,
}

enum Shape<'a> {
    /// All pixels of the area.
    Rect(Fill<'a>),
    /// The pixels with their centre inside.
    Triangle(Triangle<'a>),
}

impl<'a> Item<'a> {
    fn rect((area, fill): (Area, Fill<'a>)) -> Self {
        Self { area, shape: Shape::Rect(fill) }
    }

    fn triangle((area, triangle): (Area, Triangle<'a>)) -> Self {
        Self { area, shape: Shape::Triangle(triangle) }
    }

    pub(super) fn paint(&self, band: &mut Band<'_>) {
        let Area { columns, rows: [from, to] } = self.area;
        let rows = [from.max(band.top), to.min(band.bottom())];
        match &self.shape {
            Shape::Rect(fill) => rect::paint(band, rows, columns, fill),
            Shape::Triangle(triangle) => triangle.paint(band, rows, columns),
        }
    }
}

/// The shapes that touch the picture, in the order in which they are painted.
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

/// The indices of the items that touch each band of rows, in order.
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
            items.extend(rect::item(&ends, texture, &clip).map(Item::rect));
            rest.next();
        } else {
            polygon::cut(corners, |part| {
                items.extend(triangle::item(&part, texture, &clip).map(Item::triangle));
            });
        }
    }
    items
}
