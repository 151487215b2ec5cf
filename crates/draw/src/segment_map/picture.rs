//! The visible part of a segment map as triangles or pixels.

use super::brush::{Area, Brush, MeshBrush, PixelBrush};
use super::items::{Bar, Item, MapItems, MapView};
use super::{MapLayout, MapZoom};
use crate::{BandTexture, Palette, Rgb};
use egui::epaint::Mesh;
use egui::{Color32, ColorImage, Pos2, Rect, Vec2};
use oomscope_analysis::SegmentState;
use oomscope_analysis::segment_state::Content;
use oomscope_model::AllocId;
use std::sync::Arc;

/// Above this number of items, pixels are cheaper to show in every frame than triangles.
const MAX_MESH_ITEMS: usize = 20_000;

/// Blocks have an edge at their end from this width on; on thinner ones it would hide the colour.
const MIN_EDGED_PX: i32 = 4;

/// Bars have a border from this width on; thinner ones would be all border.
const MIN_BORDERED_PX: i32 = 3;

/// A painted map, without text and marks.
#[derive(Debug, Clone)]
pub enum MapPicture {
    /// Triangles, if few items are visible.
    Mesh(Arc<Mesh>),
    /// Pixels, if many are.
    Pixels(Arc<ColorImage>),
}

/// The place of a picture on the screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MapSurface {
    /// The rectangle, in points; starts on a whole pixel.
    pub rect: Rect,
    /// Physical pixels per point.
    pub scale: f32,
    /// Largest number of columns or rows of a texture.
    pub max_texture_px: usize,
}

/// Paint the visible part of a layout. `color` gives the colours of blocks whose allocation is known.
pub fn picture(
    state: &SegmentState,
    layout: &MapLayout,
    zoom: &MapZoom,
    surface: &MapSurface,
    palette: &Palette,
    color: &dyn Fn(AllocId) -> Rgb,
) -> (MapItems, MapPicture) {
    let MapSurface { rect, scale, max_texture_px } = *surface;
    let size_px = size_px(rect.size(), scale);
    let items = MapView { state, layout, zoom, scale }.items(size_px);
    let painter = Painter { state, palette, color };
    let fits_texture = size_px.iter().all(|&side| side as usize <= max_texture_px);
    let picture = if items.items.len() <= MAX_MESH_ITEMS || !fits_texture {
        let mut brush = MeshBrush { mesh: Mesh::default(), origin: rect.min, scale };
        painter.paint(&items, &mut brush);
        MapPicture::Mesh(Arc::new(brush.mesh))
    } else {
        MapPicture::Pixels(Arc::new(pixels(&painter, &items)))
    };
    (items, picture)
}

fn pixels(painter: &Painter<'_>, items: &MapItems) -> ColorImage {
    let mut brush = PixelBrush::new(items.size_px);
    painter.paint(items, &mut brush);
    ColorImage::new(items.size_px.map(|n| n.max(0) as usize), brush.pixels)
}

/// A size in whole physical pixels.
pub(super) fn size_px(size: Vec2, scale: f32) -> [i32; 2] {
    [size.x, size.y].map(|length| (length * scale).round().clamp(0.0, 32_768.0) as i32)
}

struct Painter<'a> {
    state: &'a SegmentState,
    palette: &'a Palette,
    color: &'a dyn Fn(AllocId) -> Rgb,
}

impl Painter<'_> {
    fn paint(&self, items: &MapItems, brush: &mut impl Brush) {
        // Borders come last, as they lie a pixel outside of their bar, where a neighbour's items may be.
        for item in &items.items {
            let bar = &items.bars[item.bar];
            self.item(item, bar, brush);
        }
        for bar in &items.bars {
            self.border(bar, brush);
        }
    }

    fn item(&self, item: &Item, bar: &Bar, brush: &mut impl Brush) {
        let area = Area::new(item.x.clone(), bar.y.clone());
        let Palette { window, muted, line, .. } = *self.palette;
        let part = &self.state.parts[item.part];
        let id = match part.content {
            Content::Hole => {
                brush.fill(&area, self.palette.free());
                brush.hatch(&area, window.mix(muted, 0.34));
                return;
            }
            Content::Unmapped => {
                let middle = i32::midpoint(bar.y.start, bar.y.end);
                brush.fill(&Area::new(item.x.clone(), middle..middle + 1), line);
                return;
            }
            Content::Allocated(id) | Content::Awaiting(id) => id,
        };
        let color = id.map_or(self.palette.unknown, |id| (self.color)(id));
        let requested = Area::new(item.x.start..item.rounding_from, bar.y.clone());
        if matches!(part.content, Content::Awaiting(_)) {
            let [surface, lines] = BandTexture::Striped.lined().unwrap_or_default();
            brush.fill(&requested, color.mix(window, surface));
            brush.stripes(&requested, color.mix(window, lines));
        } else {
            brush.fill(&requested, color);
        }
        let rounding = Area::new(item.rounding_from..item.x.end, bar.y.clone());
        if !rounding.x.is_empty() {
            brush.fill(&rounding, color.mix(window, 0.55));
        }
        if item.has_end && MIN_EDGED_PX <= item.x.end - item.x.start {
            brush.fill(&Area::new(item.x.end - 1..item.x.end, bar.y.clone()), color.mix(window, 0.6));
        }
    }

    /// Paint a border around a bar; it is open where the row goes on in another line.
    fn border(&self, bar: &Bar, brush: &mut impl Brush) {
        if bar.x.end - bar.x.start < MIN_BORDERED_PX {
            return;
        }
        let color = self.palette.muted.mix(self.palette.window, 0.35);
        let Bar { x, y, .. } = bar;
        let sides = [
            (true, Area::new(x.clone(), y.start - 1..y.start)),
            (true, Area::new(x.clone(), y.end..y.end + 1)),
            (bar.is_edge[0], Area::new(x.start - 1..x.start, y.start - 1..y.end + 1)),
            (bar.is_edge[1], Area::new(x.end..x.end + 1, y.start - 1..y.end + 1)),
        ];
        for (_, side) in sides.iter().filter(|(is_drawn, _)| *is_drawn) {
            brush.fill(side, color);
        }
    }
}

impl MapPicture {
    /// Paint it. A picture of pixels needs the texture that the caller made of them, else nothing is painted.
    pub fn paint(&self, painter: &egui::Painter, rect: Rect, texture: Option<egui::TextureId>) {
        match (self, texture) {
            (Self::Mesh(mesh), _) => {
                painter.add(egui::Shape::Mesh(Arc::clone(mesh)));
            }
            (Self::Pixels(_), Some(texture)) => {
                let uv = Rect::from_min_max(Pos2::ZERO, egui::pos2(1.0, 1.0));
                painter.image(texture, rect, uv, Color32::WHITE);
            }
            (Self::Pixels(_), None) => {}
        }
    }
}
