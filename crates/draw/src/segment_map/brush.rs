//! Filling rectangles of physical pixels, as triangles or as pixels.

use crate::Rgb;
use egui::epaint::{Mesh, Vertex, WHITE_UV};
use egui::{Color32, Pos2, Rect, pos2};
use std::ops::Range;

/// Distance from one line of a hatching to the next, in physical pixels.
const HATCH_PX: i32 = 7;

/// Distance from one stripe to the next, in rows of physical pixels; that of the timeline's stripes.
const STRIPE_PX: i32 = 3;

/// A rectangle of physical pixels.
#[derive(Debug, Clone)]
pub(super) struct Area {
    pub(super) x: Range<i32>,
    pub(super) y: Range<i32>,
}

impl Area {
    pub(super) fn new(x: Range<i32>, y: Range<i32>) -> Self {
        Self { x, y }
    }
}

/// A surface that takes filled and hatched rectangles.
pub(super) trait Brush {
    /// Fill an area with one colour.
    fn fill(&mut self, area: &Area, color: Rgb);

    /// Add thin diagonal lines to an area. The lines of neighbouring areas meet.
    fn hatch(&mut self, area: &Area, color: Rgb);

    /// Add thin horizontal lines to an area.
    fn stripes(&mut self, area: &Area, color: Rgb) {
        for y in area.y.clone().filter(|y| (y - area.y.start) % STRIPE_PX == 1) {
            self.fill(&Area::new(area.x.clone(), y..y + 1), color);
        }
    }
}

/// A brush that paints triangles.
pub(super) struct MeshBrush {
    pub(super) mesh: Mesh,
    /// The place of pixel 0, 0, in points.
    pub(super) origin: Pos2,
    /// Physical pixels per point.
    pub(super) scale: f32,
}

impl MeshBrush {
    fn at(&self, x: i32, y: i32) -> Pos2 {
        pos2(self.origin.x + x as f32 / self.scale, self.origin.y + y as f32 / self.scale)
    }
}

impl Brush for MeshBrush {
    fn fill(&mut self, area: &Area, color: Rgb) {
        let rect = Rect::from_min_max(self.at(area.x.start, area.y.start), self.at(area.x.end, area.y.end));
        self.mesh.add_colored_rect(rect, color.into());
    }

    fn hatch(&mut self, area: &Area, color: Rgb) {
        let Area { x, y } = area;
        let first = (x.start + y.start).div_euclid(HATCH_PX) * HATCH_PX;
        for sum in (first..x.end + y.end).step_by(HATCH_PX as usize) {
            // From the top right to the bottom left, where x + y is the same.
            let (right, left) = ((sum - y.start).min(x.end), (sum - y.end).max(x.start));
            if right <= left {
                continue;
            }
            let ends = [(right, sum - right), (left, sum - left)];
            let [a, b] = ends.map(|(x, y)| self.at(x, y));
            let width = 1.0 / self.scale;
            let most = self.at(x.end, 0).x;
            let color = Color32::from(color);
            let corner = |pos| Vertex { pos, uv: WHITE_UV, color };
            let base = self.mesh.vertices.len() as u32;
            // A diagonal line that takes 1.4 pixels of a row is one pixel thick.
            let shifted = |p: Pos2| pos2((p.x + width * 1.4).min(most), p.y);
            self.mesh.vertices.extend([corner(a), corner(shifted(a)), corner(shifted(b)), corner(b)]);
            self.mesh.add_triangle(base, base + 1, base + 2);
            self.mesh.add_triangle(base, base + 2, base + 3);
        }
    }
}

/// A brush that paints pixels.
pub(super) struct PixelBrush {
    pub(super) size_px: [i32; 2],
    /// Row by row from the top; transparent until painted.
    pub(super) pixels: Vec<Color32>,
}

impl PixelBrush {
    pub(super) fn new(size_px: [i32; 2]) -> Self {
        let [width, height] = size_px.map(|n| n.max(0) as usize);
        Self { size_px, pixels: vec![Color32::TRANSPARENT; width * height] }
    }

    /// The rows of an area that lie in the picture: row, columns and pixels.
    fn rows(&mut self, area: &Area) -> impl Iterator<Item = (i32, Range<i32>, &mut [Color32])> {
        let width = self.size_px[0].max(0) as usize;
        let x = area.x.start.clamp(0, self.size_px[0])..area.x.end.clamp(0, self.size_px[0]);
        let y = area.y.start.clamp(0, self.size_px[1])..area.y.end.clamp(0, self.size_px[1]);
        let columns = x.start as usize..x.end.max(x.start) as usize;
        let all = self.pixels.chunks_exact_mut(width.max(1)).enumerate();
        let rows = all.skip(y.start as usize).take(y.len());
        rows.map(move |(row, pixels)| (row as i32, x.clone(), &mut pixels[columns.clone()]))
    }
}

impl Brush for PixelBrush {
    fn fill(&mut self, area: &Area, color: Rgb) {
        let color = Color32::from(color);
        self.rows(area).for_each(|(.., pixels)| pixels.fill(color));
    }

    fn hatch(&mut self, area: &Area, color: Rgb) {
        let color = Color32::from(color);
        for (y, x, pixels) in self.rows(area) {
            let on_line = |(x, _): &(i32, _)| (x + y).rem_euclid(HATCH_PX) == 0;
            x.zip(pixels).filter(on_line).for_each(|(_, pixel)| *pixel = color);
        }
    }
}
