//! egui's triangles as pixels, without a GPU, a driver or a display.
//!
//! Exported pictures and tests look like the window because they follow the rules of its
//! painter: vertices are in points, colours are premultiplied and blended in gamma space, a texture
//! is multiplied by the vertex colour, clip rectangles are rounded to pixels, and a pixel belongs to
//! a triangle if its centre does, with the top-left rule where two triangles meet.
//!
//! The same input gives the same bytes on any number of threads: each pixel depends only on the shapes
//! over it, in their order.

mod area;
mod band;
mod blend;
mod polygon;
mod rect;
mod scene;
mod textures;
mod triangle;

#[cfg(test)]
mod tests;

pub use textures::Textures;

use super::Rgb;
use band::Band;
use egui::ClippedPrimitive;
use rayon::prelude::*;
use std::fmt;

/// Number of rows that one task paints: many tasks for all threads, and few bands for each shape.
const BAND_ROWS: usize = 32;

/// Largest number of pixels on a side of a picture: that of textures on common GPUs, so that the window could
/// show it, too.
pub const MAX_SIDE_PX: usize = 16_384;

/// A finished picture.
#[derive(Clone, PartialEq, Eq)]
pub struct Pixels {
    /// Columns and rows.
    pub size: [usize; 2],
    /// Red, green, blue and alpha of every pixel, row by row from the top. All are opaque.
    pub rgba: Vec<u8>,
}

impl fmt::Debug for Pixels {
    /// The size alone: the pixels are millions of numbers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pixels").field("size", &self.size).finish_non_exhaustive()
    }
}

impl Pixels {
    /// The colour of a pixel; `None` outside of the picture.
    pub fn get(&self, x: usize, y: usize) -> Option<[u8; 4]> {
        let [width, height] = self.size;
        let at = (x < width && y < height).then(|| (y * width + x) * 4)?;
        self.rgba.get(at..at + 4)?.try_into().ok()
    }
}

/// Paint the output of [`egui::Context::tessellate`] on an opaque ground.
///
/// Sides are limited to [`MAX_SIDE_PX`]. Paint callbacks, which belong to a GPU, and meshes with a texture
/// that is not in `textures` are left out.
pub fn paint(
    primitives: &[ClippedPrimitive],
    textures: &Textures,
    pixels_per_point: f32,
    size_px: [usize; 2],
    ground: Rgb,
) -> Pixels {
    let size = size_px.map(|side| side.min(MAX_SIDE_PX));
    let [width, height] = size;
    let mut pixels = vec![[ground.0, ground.1, ground.2, 255]; width * height];
    let items = scene::items(primitives, textures, pixels_per_point, size);
    let bands = scene::bands(&items, height, BAND_ROWS);
    let parts = pixels.par_chunks_mut((width * BAND_ROWS).max(1)).zip(bands).enumerate();
    parts.for_each(|(i, (pixels, in_band))| {
        let mut band = Band { top: (i * BAND_ROWS) as i32, width, pixels };
        for at in in_band {
            items[at as usize].paint(&mut band);
        }
    });
    Pixels { size, rgba: pixels.into_flattened() }
}
